#include "state/world/folio_orders.h"

namespace memtrace {

const FolioOrders::Folio* FolioOrders::find_around(std::uint64_t page, std::uint64_t& first) const {
  for (std::uint32_t order = kSmallestFolioOrder; order < kOrders; ++order) {
    if ((orders_ >> order & 1U) == 0) {
      continue;
    }
    first = first_page(page, order);
    if (const Folio* folio = folios_.find(first); folio != nullptr && folio->order == order) {
      return folio;
    }
  }
  return nullptr;
}

// A page that is allocated again was freed, and with it the folio that it was part of.
void FolioOrders::on(const PageAlloc& alloc, std::uint64_t weight) {
  is_sampled_ = is_sampled_ || weight != 1;
  sees_all_ = sees_all_ || alloc.order == 0;
  if (alloc.failed || !alloc.page_is_pfn || is_sampled_) {
    return;
  }
  std::uint64_t first = 0;
  if (!folios_.empty() && find_around(alloc.page, first) != nullptr) {
    folios_.erase(first);
  }
  if (alloc.like_huge_page && alloc.order >= kSmallestFolioOrder && alloc.order < kOrders) {
    folios_.put(alloc.page, {.order = alloc.order});
    orders_ |= 1U << alloc.order;
  }
}

std::uint64_t FolioOrders::written_at(std::uint64_t page, std::uint32_t tid) {
  std::uint64_t first = 0;
  const Folio* found = sees_all_ && !is_sampled_ ? find_around(page, first) : nullptr;
  if (found == nullptr) {
    return 1;
  }
  Folio folio = *found;
  const std::uint64_t pages = std::uint64_t{1} << folio.order;
  if (page == first) {
    folio.writer_tid = tid;
    folio.counted_ahead = pages - 1;
    folios_.put(first, folio);
    return pages;
  }
  if (folio.counted_ahead == 0 || folio.writer_tid != tid) {
    folios_.erase(first);
    return 1;
  }
  --folio.counted_ahead;
  folios_.put(first, folio);
  return 0;
}

}  // namespace memtrace
