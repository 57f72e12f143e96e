// What the kernel decides by when no block of free memory is large enough (mm/vmstat.c,
// __fragmentation_index).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace memtrace {

inline constexpr std::int64_t kBlockIsThere = -1000;

// In thousandths: near 1000 the free memory is in too small pieces, near 0 there is too little of
// it; kBlockIsThere when a block is large enough. `blocks`: free ones by order.
inline std::int64_t fragmentation_index(std::span<const std::uint64_t> blocks, std::size_t order) {
  std::uint64_t pages = 0;
  std::uint64_t count = 0;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    pages += blocks[i] << i;
    count += blocks[i];
    if (i >= order && blocks[i] > 0) {
      return kBlockIsThere;
    }
  }
  if (count == 0) {
    return 0;
  }
  const std::uint64_t rest = (1000 + pages * 1000 / (std::uint64_t{1} << order)) / count;
  return 1000 - static_cast<std::int64_t>(rest);
}

}  // namespace memtrace
