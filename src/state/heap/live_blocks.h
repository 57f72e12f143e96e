// Blocks allocated and not yet freed, by address or page. Pairs frees with allocations and counts
// the frees that find nothing.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "state/heap/block_table.h"
#include "state/heap/live_block.h"
#include "tracepoints/event/event.h"

namespace memtrace {

class LiveBlocks {
 public:
  explicit LiveBlocks(std::uint64_t page_size_bytes);

  // An address that is allocated again without a free in between replaces the old block, which is
  // the result: its free was not seen.
  std::optional<LiveBlock> allocate(const LiveBlock& block);

  // The block that was freed, or nothing when it is not known: it was allocated earlier.
  std::optional<LiveBlock> free_slab(std::uint64_t ptr);

  // Pages may be freed in other pieces than they were allocated in (split_page, alloc_pages_exact):
  // the result describes the part that was freed, with order and bytes of the part; what remains
  // stays live as smaller blocks.
  std::optional<LiveBlock> free_pages(const PageFree& free);

  const BlockTable& slabs() const { return slabs_; }

  const BlockTable& pages() const { return pages_; }

 private:
  // The buddy allocator's largest block is order 10 by default; CONFIG_ARCH_FORCE_MAX_ORDER allows
  // a few more (mm/Kconfig).
  static constexpr std::uint32_t kOrders = 17;

  static std::uint32_t row_of(std::uint32_t order) { return order < kOrders ? order : kOrders - 1; }

  std::optional<std::uint64_t> find_holder(const PageFree& free) const;
  std::optional<LiveBlock> free_smaller(const PageFree& free);
  std::optional<LiveBlock> put_pages(const LiveBlock& block);
  std::optional<LiveBlock> take_pages(std::uint64_t page);
  LiveBlock resized(LiveBlock block, std::uint32_t order) const;

  BlockTable slabs_;
  BlockTable pages_;  // by number, or by the address of struct page
  std::array<std::uint64_t, kOrders> live_by_order_{};  // of pages_
  std::uint64_t page_size_bytes_ = 0;
};

}  // namespace memtrace
