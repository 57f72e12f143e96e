// Builds bytes for a file: the counterpart of base's ByteReader.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

namespace memtrace {

class ByteWriter {
 public:
  template <typename T>
  void put(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    put_bytes(std::as_bytes(std::span(&value, 1)));
  }

  void put_bytes(std::span<const std::byte> bytes) {
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  }

  void put_text(std::string_view text) { put_bytes(std::as_bytes(std::span(text))); }

  // With a NUL behind it.
  void put_c_string(std::string_view text) {
    put_text(text);
    put('\0');
  }

  // Zeros up to a multiple of `alignment` bytes since the start.
  void pad(std::size_t alignment) {
    bytes_.resize((bytes_.size() + alignment - 1) / alignment * alignment);
  }

  std::size_t size_bytes() const { return bytes_.size(); }

  std::vector<std::byte>& bytes() { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

}  // namespace memtrace
