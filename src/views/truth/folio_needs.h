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

inline bool is_of_folios(const EventType& type) {
  return std::ranges::any_of(
      kFolioParts, [&type](const EventNarrowing& part) { return part.event == type.name; });
}

}  // namespace memtrace
