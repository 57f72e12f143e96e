// What every view's tables have in common: filter, sort, cut. Done on the finished report, so that
// no view knows of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "report/name_pattern.h"
#include "report/namer.h"
#include "report/report.h"

namespace memtrace {

struct ArrangeOptions {
  std::string sort{};                  // a column's name or its beginning; "" = the table's own
  std::uint64_t top = 0;               // rows to keep; 0 = all
  std::uint64_t min_count = 0;         // --min: rows with a smaller `count` go
  std::vector<NamePattern> exclude{};  // rows with a stack, location or text cell that matches go
  std::optional<NamePattern> only{};   // rows in which it matches nothing go
  std::optional<TreeOrder> tree{};     // tables by stack become call trees of all their rows
  bool closing_figures = false;  // say in table.note what the filters left (kmalloc-top's trailer)
};

// Filters, then sorts (ties by the key cells, so that output is stable), then cuts; what was cut is
// added up in a last row whose key cells say "other". Fixed tables are left alone. Adds a caveat
// note for nothing. Error: Usage, a sort column that no table has, with the nearest names; a tree
// of tables without stacks.
Result<> arrange(Report& report, const ArrangeOptions& options, Namer& namer);

}  // namespace memtrace
