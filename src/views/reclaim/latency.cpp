#include "views/reclaim/latency.h"

namespace memtrace {

std::vector<Column> latency_columns() {
  return {{"avg_ns", Unit::Nanoseconds},
          {"p50_ns", Unit::Nanoseconds},
          {"p99_ns", Unit::Nanoseconds},
          {"max_ns", Unit::Nanoseconds}};
}

std::vector<Cell> latency_cells(const Durations& durations) {
  if (durations.count() == 0) {
    return std::vector<Cell>(latency_columns().size());
  }
  return {durations.average_ns(),
          durations.percentile_ns(50),
          durations.percentile_ns(99),
          durations.max_ns()};
}

}  // namespace memtrace
