// Columns of latencies: average, median, 99th percentile and longest.
#pragma once

#include <cstdint>
#include <vector>

#include "views/kit/durations.h"
#include "views/kit/keys.h"

namespace memtrace {

// avg_ns, p50_ns, p99_ns and max_ns, in this order.
std::vector<Column> latency_columns();
std::vector<Cell> latency_cells(const Durations& durations);

// The same as figures of a cost that has a member `durations`.
template <typename Cost>
Cell average_cell(const Cost& cost, const CellContext& /*context*/) {
  return cost.durations.count() == 0 ? Cell() : Cell(cost.durations.average_ns());
}

template <typename Cost>
Cell longest_cell(const Cost& cost, const CellContext& /*context*/) {
  return cost.durations.count() == 0 ? Cell() : Cell(cost.durations.max_ns());
}

template <typename Cost, std::uint64_t Percent>
Cell percentile_cell(const Cost& cost, const CellContext& /*context*/) {
  return cost.durations.count() == 0 ? Cell() : Cell(cost.durations.percentile_ns(Percent));
}

}  // namespace memtrace
