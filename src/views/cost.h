// What allocations and frees of slab objects and pages add up to in one row.
#pragma once

#include <cstdint>

namespace memtrace {

struct FlowCost {
  std::uint64_t allocs = 0;
  std::uint64_t frees = 0;  // of blocks that this row allocated
  std::uint64_t bytes = 0;  // allocated
  std::uint64_t failures = 0;
  std::uint64_t live_blocks = 0;
  std::uint64_t live_pages = 0;
  std::uint64_t live_bytes = 0;

  FlowCost& operator+=(const FlowCost& other) {
    allocs += other.allocs;
    frees += other.frees;
    bytes += other.bytes;
    failures += other.failures;
    live_blocks += other.live_blocks;
    live_pages += other.live_pages;
    live_bytes += other.live_bytes;
    return *this;
  }
};

}  // namespace memtrace
