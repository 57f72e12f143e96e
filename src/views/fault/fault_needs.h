// The events that the views of page faults are made from.
#pragma once

#include <array>
#include <string_view>

#include "views/fault/fault_pairing.h"
#include "views/truth/folio_needs.h"
#include "views/view.h"

namespace memtrace {

// page-faults includes faults of the kernel's code; the exceptions have an event of their own for
// them.
inline constexpr auto kFaultNeeds =
    std::to_array<std::string_view>({"exceptions:page_fault_user|page-faults",
                                     "exceptions:page_fault_kernel|",
                                     "minor-faults",
                                     "major-faults",
                                     "kmem:mm_page_alloc|",
                                     "signal:signal_generate|"});

// The stack is the entry's. Of signals SIGBUS, SIGSEGV and SIGKILL.
inline constexpr auto kFaultParts = std::to_array<EventNarrowing>({
    {.event = "minor-faults", .stacks = EventNarrowing::Stacks::None},
    {.event = "major-faults", .stacks = EventNarrowing::Stacks::None},
    {.event = "kmem:mm_page_alloc", .filter = kFolioFilter, .stacks = EventNarrowing::Stacks::None},
    {.event = "kmem:mm_page_alloc",
     .filter = kHugePageFilter,
     .stacks = EventNarrowing::Stacks::None},
    {.event = "signal:signal_generate",
     .filter = "sig == 7 || sig == 9 || sig == 11",
     .stacks = EventNarrowing::Stacks::None},
});

inline bool is_of_faults(const EventType& type) {
  return is_fault_event(type) || type.name == "kmem:mm_page_alloc" ||
         type.name == "signal:signal_generate";
}

}  // namespace memtrace
