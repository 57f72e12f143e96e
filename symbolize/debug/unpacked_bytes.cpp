#include "symbolize/debug/unpacked_bytes.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>

namespace memtrace {
namespace {

std::atomic<std::uint64_t> reserved_bytes = 0;

bool take(std::uint64_t size_bytes) {
  std::uint64_t before = reserved_bytes.load();
  do {
    if (size_bytes > UnpackedBytes::most_bytes() - before) {
      return false;
    }
  } while (!reserved_bytes.compare_exchange_weak(before, before + size_bytes));
  return true;
}

}  // namespace

std::uint64_t UnpackedBytes::most_bytes() {
  static const std::uint64_t most =
      std::min(static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES)) *
                   static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)) / 4,
               std::uint64_t{4} << 30U);
  return most;
}

std::optional<UnpackedBytes> UnpackedBytes::reserve(std::uint64_t size_bytes) {
  UnpackedBytes bytes;
  return bytes.grow(size_bytes) ? std::optional(std::move(bytes)) : std::nullopt;
}

bool UnpackedBytes::grow(std::uint64_t size_bytes) {
  if (size_bytes > size_bytes_) {
    if (!take(size_bytes - size_bytes_)) {
      return false;
    }
    size_bytes_ = size_bytes;
  }
  return true;
}

void UnpackedBytes::shrink(std::uint64_t size_bytes) {
  if (size_bytes < size_bytes_) {
    reserved_bytes -= size_bytes_ - size_bytes;
    size_bytes_ = size_bytes;
  }
}

}  // namespace memtrace
