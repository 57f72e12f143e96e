// A table of the text format: key columns to the left, figures to the right, and the frames of
// each row's stack below it, one a line.
#pragma once

#include <cstddef>
#include <ostream>

#include "report/report.h"

namespace memtrace {

// Lines are at most `width` columns wide: text is cut to fit, figures never are.
void print_table(const Report& report, const Table& table, std::size_t width, std::ostream& out);

}  // namespace memtrace
