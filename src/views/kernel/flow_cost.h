// What allocations and frees of slab objects and pages add up to in one row.
#pragma once

#include <cstdint>

namespace memtrace {

// What rounding up to size classes wastes.
inline std::uint64_t waste_of(std::uint64_t allocated_bytes, std::uint64_t asked_bytes) {
  return allocated_bytes > asked_bytes ? allocated_bytes - asked_bytes : 0;
}

struct FlowCost {
  std::uint64_t allocs = 0;
  std::uint64_t frees = 0;        // of blocks that this row allocated
  std::uint64_t bytes = 0;        // allocated
  std::uint64_t bytes_req = 0;    // asked for
  std::uint64_t freed_bytes = 0;  // by those frees
  std::uint64_t cross_cpu = 0;    // frees on another CPU than that of the allocation
  std::uint64_t cross_node = 0;   // frees on a CPU of another node
  std::uint64_t failures = 0;
  std::uint64_t live_blocks = 0;
  std::uint64_t live_pages = 0;
  std::uint64_t live_bytes = 0;
  std::uint64_t live_req = 0;
  // The most that was live at one time.
  std::uint64_t max_live_bytes = 0;
  std::uint64_t max_live_req = 0;
  std::uint64_t max_live_waste = 0;

  std::uint64_t waste() const { return waste_of(bytes, bytes_req); }

  std::uint64_t live_waste() const { return waste_of(live_bytes, live_req); }
};

}  // namespace memtrace
