// The events from which the world learns how large folios are (state/world/folio_sizes.h), for
// views of events that do not say it. Those of single pages are not needed, nor are stacks.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

#include "views/view.h"

namespace memtrace {

inline constexpr auto kFolioNeeds = std::to_array<std::string_view>(
    {"filemap:mm_filemap_add_to_page_cache|", "filemap:mm_filemap_delete_from_page_cache|"});

// Before Linux 6.1 the events have no order, and are not recorded for this.
inline constexpr auto kFolioParts = std::to_array<EventNarrowing>({
    {.event = "filemap:mm_filemap_add_to_page_cache",
     .filter = "order > 0",
     .stacks = EventNarrowing::Stacks::None,
     .needs_field = true},
    {.event = "filemap:mm_filemap_delete_from_page_cache",
     .filter = "order > 0",
     .stacks = EventNarrowing::Stacks::None,
     .needs_field = true},
});

// Page allocations of huge pages: 9 is their order on x86 and wherever pages are of 4 KiB, larger
// pages have larger ones. And those of smaller large folios (PageAlloc::like_huge_page), which the
// kernel has from 6.8 on: __GFP_NOMEMALLOC is bit 19 there (include/linux/gfp_types.h). Older
// kernels have another flag there. The filter then lets other allocations pass, and no view counts
// them as folios.
inline constexpr std::string_view kFolioFilter =
    "order >= 9 || (order >= 2 && gfp_flags & 0x80000)";
// What memtrace recorded before it knew the smaller ones.
inline constexpr std::string_view kHugePageFilter = "order >= 9";

// From this event views learn how large the folios are that reclaim writes
// (state/world/folio_orders.h). It is too frequent to be recorded for this alone. They use it where
// another view has it recorded.
inline constexpr std::string_view kPageAlloc = "kmem:mm_page_alloc";
inline constexpr auto kWrittenFolioParts = std::to_array<EventNarrowing>({
    {.event = kPageAlloc, .filter = kFolioFilter, .stacks = EventNarrowing::Stacks::None},
    {.event = kPageAlloc, .filter = kHugePageFilter, .stacks = EventNarrowing::Stacks::None},
});

inline bool is_of_folios(const EventType& type) {
  return std::ranges::any_of(
      kFolioParts, [&type](const EventNarrowing& part) { return part.event == type.name; });
}

}  // namespace memtrace
