// Histograms and series of the text format.
#pragma once

#include <cstddef>
#include <ostream>

#include "report/report.h"

namespace memtrace {

//   Sizes (bytes)
//   [64, 127]     123 |@@@@@@@@@@          |
void print_histogram(const Histogram& histogram, std::size_t width, std::ostream& out);

// Times are printed since start_ns.
void print_series(const Series& series, std::uint64_t start_ns, std::ostream& out);

}  // namespace memtrace
