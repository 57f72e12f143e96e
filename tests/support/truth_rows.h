// What a report has beside the kernel's own counters (views/truth/vmstat_check.h).
#pragma once

#include <algorithm>
#include <string_view>
#include <vector>

#include "report/report.h"

namespace memtrace::test {

// Empty when it has nothing of that.
inline std::vector<std::vector<Cell>> truth_rows(const Report& report) {
  const auto found =
      std::ranges::find(report.tables, "beside what the kernel counted", &Table::title);
  return found == report.tables.end() ? std::vector<std::vector<Cell>>() : found->rows;
}

}  // namespace memtrace::test
