// Integers of a raw sample read at fixed offsets. libtraceevent serves for the format only, once
// for each event: its tep_read_number_field() is a call for each field of each sample, extends no
// signs and needs the parsed event, which is gone by then.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace memtrace {

// Where a number is. x86 and arm64 kernels are little-endian; big-endian recordings are refused.
class NumberAt {
 public:
  NumberAt() = default;

  NumberAt(std::uint32_t offset_bytes, std::uint32_t size_bytes, bool is_signed)
      : offset_bytes_(offset_bytes), size_bytes_(size_bytes), is_signed_(is_signed) {}

  // No bounds check: the caller has seen that limit_bytes() are there.
  std::uint64_t load(const std::byte* raw) const {
    if (size_bytes_ == 8) {
      return load_as<std::uint64_t>(raw);
    }
    if (size_bytes_ == 4) {
      return is_signed_ ? load_as<std::int32_t>(raw) : load_as<std::uint32_t>(raw);
    }
    if (size_bytes_ == 2) {
      return is_signed_ ? load_as<std::int16_t>(raw) : load_as<std::uint16_t>(raw);
    }
    if (size_bytes_ == 1) {
      return is_signed_ ? load_as<std::int8_t>(raw) : load_as<std::uint8_t>(raw);
    }
    return 0;
  }

  std::size_t limit_bytes() const { return std::size_t{offset_bytes_} + size_bytes_; }

 private:
  template <typename T>
  std::uint64_t load_as(const std::byte* raw) const {
    T value{};
    std::memcpy(&value, raw + offset_bytes_, sizeof(T));
    return static_cast<std::uint64_t>(value);
  }

  std::uint32_t offset_bytes_ = 0;
  std::uint32_t size_bytes_ = 0;
  bool is_signed_ = false;
};

}  // namespace memtrace
