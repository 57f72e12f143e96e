// --line: a row of totals for each interval, as vmstat(8) prints them.
#pragma once

#include "cli/output/print.h"

namespace memtrace {

// The totals of an interval's report as the one row of a table: when it ended, its totals, and how
// many events are missing in them.
Report totals_row(const Report& interval);

class IntervalLines {
 public:
  // Error: Usage, a format that has no lines.
  static Result<IntervalLines> create(const PrintOptions& options);

  // Error: standard output cannot be written to.
  Result<> print(const Report& interval);

  // What must be known about the truth of all rows; nothing if there was none.
  Result<> end();

 private:
  explicit IntervalLines(LinePrinter printer) : printer_(std::move(printer)) {}

  LinePrinter printer_;
  std::optional<Caveats> caveats_;  // of all intervals
};

}  // namespace memtrace
