// Blocks allocated and not yet freed, by address or page. Pairs frees with allocations and counts
// the frees that find nothing.
#pragma once

#include <tsl/robin_map.h>

#include <cstdint>
#include <optional>

#include "base/ids.h"
#include "tracepoints/event/event.h"

namespace memtrace {

enum class BlockKind : std::uint8_t { Kmalloc, Cache, Page, Heap };

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
  StackId stack;
  IdentityId identity;
  LifeId life;
};

// What every block that this event allocates says of it: who, when, where.
LiveBlock block_of(const Event& event);

class LiveBlocks {
 public:
  using Map = tsl::robin_map<std::uint64_t, LiveBlock>;

  explicit LiveBlocks(std::uint64_t page_size_bytes) : page_size_bytes_(page_size_bytes) {}

  // An address that is allocated again without a free in between replaces the old block, which is
  // the result: its free was not seen.
  std::optional<LiveBlock> allocate(const LiveBlock& block);

  // The block that was freed, or nothing when it is not known: it was allocated earlier.
  std::optional<LiveBlock> free_slab(std::uint64_t ptr);

  // Pages may be freed in other pieces than they were allocated in (split_page, alloc_pages_exact):
  // the result describes the part that was freed, with order and bytes of the part; what remains
  // stays live as smaller blocks.
  std::optional<LiveBlock> free_pages(const PageFree& free);

  const Map& slabs() const { return slabs_; }

  const Map& pages() const { return pages_; }

 private:
  std::optional<LiveBlock> take_page(std::uint64_t page);
  std::optional<std::uint64_t> find_holder(const PageFree& free) const;
  std::optional<LiveBlock> free_smaller(const PageFree& free);
  LiveBlock resized(LiveBlock block, std::uint32_t order) const;

  Map slabs_;
  Map pages_;
  std::uint64_t page_size_bytes_ = 0;
};

}  // namespace memtrace
