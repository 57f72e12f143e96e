// A table of the text format: key columns to the left, figures to the right, and the frames of
// each row's stack below it, one a line.
#pragma once

#include <cstddef>
#include <ostream>
#include <string>

#include "report/report.h"

namespace memtrace {

// A column's name above cells that show their units: "avg_age_ns" is "avg_age", and
// "allocs_per_second" is "allocs/s".
std::string header_of(const Report& report, const Column& column);

// The frames of a cell's stack, indented, one a line: how many lines these are.
std::size_t print_stack(const Report& report,
                        const Cell& cell,
                        std::size_t width,
                        std::ostream& out);

// A table that is wider than `width` becomes a block of lines for each row: neither keys nor
// figures are cut, only the names of functions on stacks.
void print_table(const Report& report, const Table& table, std::size_t width, std::ostream& out);

}  // namespace memtrace
