// Functions that only pass on their caller's wish for memory: operator new, strdup, g_malloc. Who
// calls them is the caller of the allocator.
#pragma once

#include "report/report.h"

namespace memtrace {

bool is_allocation_wrapper(const Frame& frame);

// The function and all that is inlined into it there are.
bool is_allocation_wrapper(const Frames& frames);

// The frames of one place without the wrappers that are inlined at it.
Frames without_wrappers(const Frames& frames);

}  // namespace memtrace
