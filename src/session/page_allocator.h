// Which functions of the kernel hand out pages for others: whoever called the outermost of them is
// the caller of the page allocator.
#pragma once

#include "report/report.h"

namespace memtrace {

// By the names of the frames at one place: all of them, inlined ones included, are the allocator's.
bool is_page_allocator(const Frames& frames);

}  // namespace memtrace
