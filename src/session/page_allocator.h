// The kernel functions that hand out pages for others: the caller of the outermost one is the
// caller of the page allocator.
#pragma once

#include "report/report.h"

namespace memtrace {

// By the names of the frames at one place: all of them, inlined ones included, are the allocator's.
bool is_page_allocator(const Frames& frames);

}  // namespace memtrace
