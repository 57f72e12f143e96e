// Cells and frames as people read them: KiB, thousands separators, durations, function names.
#pragma once

#include <cstdint>
#include <string>

#include "report/report.h"

namespace memtrace {

std::string print_figure(Unit unit, std::uint64_t value);

// Stacks are not for a cell: they print as "".
std::string print_cell(const Report& report, Unit unit, const Cell& cell);

// "main (demo.cpp:42)", "read [libc.so.6]", "__kmalloc_noprof [kernel]"; a long name is cut in its
// middle, where C++ keeps the template arguments.
std::string print_frame(const Frame& frame, std::size_t width);

}  // namespace memtrace
