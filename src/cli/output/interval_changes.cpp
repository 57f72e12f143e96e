#include "cli/output/interval_changes.h"

#include <utility>

namespace memtrace {
namespace {

Report without_rows(Report report) {
  for (Table& table : report.tables) {
    table.rows.clear();
  }
  return report;
}

}  // namespace

Result<Report> IntervalChanges::since_last(Report report) {
  auto changes = difference(last_ ? *last_ : without_rows(report), report, options_);
  if (changes.ok()) {
    changes.value().caveats = report.caveats;
    last_ = std::move(report);
  }
  return changes;
}

}  // namespace memtrace
