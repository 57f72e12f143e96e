// A block of memory that was allocated and not freed yet: what is known of it, and who, when,
// where.
#pragma once

#include <cstdint>

#include "base/ids.h"
#include "tracepoints/event/event.h"

namespace memtrace {

enum class BlockKind : std::uint8_t { Kmalloc, Cache, PerCpu, Page, Heap };

struct LiveBlock {
  BlockKind kind = BlockKind::Kmalloc;
  bool is_inherited = false;  // a forked child's copy of its parent's Heap block
  std::uint32_t order = 0;    // of a Page
  std::uint64_t key = 0;      // kernel address, pfn or struct page address; a Heap's user address
  std::uint64_t bytes = 0;    // as allocated: bytes_alloc, or page size << order
  std::uint64_t bytes_req = 0;
  std::uint64_t time_ns = 0;
  std::uint64_t gfp = 0;
  std::int32_t migratetype = 0;
  std::uint32_t pid = 0;
  std::uint32_t tid = 0;
  std::uint32_t cpu = 0;
  StringId comm;
  StringId cache;            // of a Cache block, when its name is known
  LocationId call_site;      // of slab and Heap blocks
  StringId function;         // of a Heap block: what allocated it
  std::uint64_t weight = 1;  // blocks that it represents, when one in N was sampled
  Sampling sampling;
  StackId stack;
  IdentityId identity;
  LifeId life;
};

// What every block that this event allocates says of it: who, when, where.
LiveBlock block_of(const Event& event);

}  // namespace memtrace
