// How large the large folios of processes' memory are, by their first page. The events of reclaim
// name a folio and not its size (vmscan:mm_vmscan_write_folio: pfn). The allocation has its order
// (kmem:mm_page_alloc). Huge pages have been swapped out whole since Linux 4.14, smaller large
// folios since 6.10.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/hash.h"
#include "state/world/aging_map.h"
#include "tracepoints/event/event_allocators.h"

namespace memtrace {

class FolioOrders {
 public:
  // One in `weight` allocations is seen.
  void on(const PageAlloc& alloc, std::uint64_t weight);

  // How many pages the task writes of the folio at `page`: 1 when its size is not known. A folio
  // that is split, because swap has no room for all of it, is written page by page, the first one
  // first, by one task. Its first page counts as the whole folio then, and each other page as 0.
  std::uint64_t written_at(std::uint64_t page, std::uint32_t tid);

 private:
  struct Folio {
    std::uint32_t order = 0;
    std::uint32_t writer_tid = 0;
    std::uint64_t counted_ahead = 0;  // pages of it that its first page was counted for
  };

  // Huge pages of 512 MiB are the largest (arm64 with pages of 64 KiB); CMA's blocks are no folios.
  static constexpr std::uint32_t kOrders = 16;

  // There are twice as many at most, in some 10 MB: of folios of 64 KiB those of 16 GiB.
  static constexpr std::size_t kMaxYoung = 131'072;

  struct Hash {
    std::size_t operator()(std::uint64_t page) const { return mix(page); }
  };

  static std::uint64_t first_page(std::uint64_t page, std::uint32_t order) {
    return page >> order << order;
  }

  // The folio that the page is part of, and its first page.
  const Folio* find_around(std::uint64_t page, std::uint64_t& first) const;

  AgingMap<std::uint64_t, Folio, Hash> folios_{kMaxYoung};
  std::uint32_t orders_ = 0;  // a bit for each order that a folio had
  bool sees_all_ = false;     // not only large allocations: pages that are in use again are seen
  bool is_sampled_ = false;
};

}  // namespace memtrace
