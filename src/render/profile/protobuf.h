// A message of protocol buffers, as their encoding specification has it: fields one after the
// other, each with its number and wire type before it. Only what profile.proto needs.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

namespace memtrace {

class ProtobufMessage {
 public:
  // A field by its number, or by the name of its number.
  template <typename Field, typename Value>
  requires std::is_enum_v<Field>

  void add(Field field, const Value& value) { add(static_cast<std::uint32_t>(field), value); }

  // A zero is the default and takes no room. Negative numbers take ten bytes, as int64 has it.
  void add(std::uint32_t field, std::uint64_t number) {
    if (number != 0) {
      add_key(field, kVarint);
      add_varint(number);
    }
  }

  void add(std::uint32_t field, std::string_view bytes) {
    add_key(field, kBytes);
    add_varint(bytes.size());
    bytes_ += bytes;
  }

  void add(std::uint32_t field, const ProtobufMessage& message) {
    add(field, std::string_view{message.bytes_});
  }

  // A packed repeated field: zeros in it count.
  void add(std::uint32_t field, std::span<const std::uint64_t> numbers) {
    ProtobufMessage packed;
    for (const std::uint64_t number : numbers) {
      packed.add_varint(number);
    }
    add(field, packed);
  }

  const std::string& bytes() const { return bytes_; }

 private:
  static constexpr std::uint32_t kVarint = 0;
  static constexpr std::uint32_t kBytes = 2;

  void add_key(std::uint32_t field, std::uint32_t wire_type) {
    add_varint(std::uint64_t{field} << 3U | wire_type);
  }

  // Seven bits a byte, the lowest first; the highest bit says that more follow.
  void add_varint(std::uint64_t number) {
    constexpr std::uint64_t kMore = 0x80;
    for (; number >= kMore; number >>= 7U) {
      bytes_ += static_cast<char>(number | kMore);
    }
    bytes_ += static_cast<char>(number);
  }

  std::string bytes_;
};

}  // namespace memtrace
