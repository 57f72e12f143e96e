// Functions that only pass on their caller's wish for memory: operator new, strdup, g_malloc, and
// all of std::vector. Who calls them is the caller of the allocator.
#pragma once

#include "report/report.h"

namespace memtrace {

// Of std::, __gnu_cxx::, boost::container, Abseil's containers or tsl::, or inlined from their
// headers, where DWARF often has only the last name: "allocate".
bool is_container_code(const Frame& frame);

bool is_allocation_wrapper(const Frame& frame);

// The function and all that is inlined into it there are.
bool is_allocation_wrapper(const Frames& frames);

// The frames of one place without the wrappers that are inlined at it.
Frames without_wrappers(const Frames& frames);

}  // namespace memtrace
