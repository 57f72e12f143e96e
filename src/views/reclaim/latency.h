// Columns of latencies for tables that are no groups: average, median, 99th percentile, longest.
#pragma once

#include <vector>

#include "report/report.h"
#include "views/kit/durations.h"

namespace memtrace {

// avg_ns, p50_ns, p99_ns and max_ns, in this order.
std::vector<Column> latency_columns();
std::vector<Cell> latency_cells(const Durations& durations);

}  // namespace memtrace
