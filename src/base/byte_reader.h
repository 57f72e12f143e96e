// A cursor over bytes of unknown truth. A short read makes it failed for good and yields zeros, so
// a parser reads straight through and checks failed() once at the end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>

namespace memtrace {

class ByteReader {
 public:
  explicit ByteReader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  bool failed() const { return failed_; }

  std::size_t position() const { return position_; }

  std::size_t remaining() const { return bytes_.size() - position_; }

  template <typename T>
  T read() {
    static_assert(std::is_trivially_copyable_v<T>);
    T value{};
    if (const auto source = take(sizeof(T)); !source.empty()) {
      std::memcpy(&value, source.data(), sizeof(T));
    }
    return value;
  }

  // Empty and failed when fewer than size_bytes are left.
  std::span<const std::byte> take(std::size_t size_bytes) {
    if (failed_ || size_bytes > remaining()) {
      failed_ = true;
      return {};
    }
    const auto taken = bytes_.subspan(position_, size_bytes);
    position_ += size_bytes;
    return taken;
  }

  void skip(std::size_t size_bytes) { take(size_bytes); }

  // Text in a field of size_bytes that ends at its first NUL, or at the field's end.
  std::string_view text(std::size_t size_bytes) {
    const auto field = take(size_bytes);
    if (field.empty()) {
      return {};  // strnlen(3) may not be given a null pointer, even for 0 bytes
    }
    const auto* start = reinterpret_cast<const char*>(field.data());
    return {start, ::strnlen(start, field.size())};
  }

 private:
  std::span<const std::byte> bytes_;
  std::size_t position_ = 0;
  bool failed_ = false;
};

}  // namespace memtrace
