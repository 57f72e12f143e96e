// Memory that other people's files decide about: what they hold compressed, and tables that are
// larger than the file. All of it together is limited, whatever many files say.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

namespace memtrace {

class UnpackedBytes {
 public:
  // A quarter of the machine's memory, and never more than 4 GiB.
  static std::uint64_t most_bytes();

  // Nothing when that much is not left.
  static std::optional<UnpackedBytes> reserve(std::uint64_t size_bytes);

  UnpackedBytes() = default;

  UnpackedBytes(UnpackedBytes&& other) noexcept
      : size_bytes_(std::exchange(other.size_bytes_, std::uint64_t{0})) {}

  UnpackedBytes& operator=(UnpackedBytes&& other) noexcept {
    std::swap(size_bytes_, other.size_bytes_);
    return *this;
  }

  UnpackedBytes(const UnpackedBytes&) = delete;
  UnpackedBytes& operator=(const UnpackedBytes&) = delete;

  ~UnpackedBytes() { shrink(0); }

  std::uint64_t size_bytes() const { return size_bytes_; }

  // False, and nothing has changed, when that much is not left.
  bool grow(std::uint64_t size_bytes);

  void shrink(std::uint64_t size_bytes);

 private:
  std::uint64_t size_bytes_ = 0;
};

}  // namespace memtrace
