// --line: a row of totals for each interval, as vmstat(8) prints them.
#pragma once

#include <string>
#include <vector>

#include "cli/output/print.h"

namespace memtrace {

// The totals of an interval's report as the one row of a table: when it ended, its totals, and how
// many events are missing in them.
Report totals_row(const Report& interval);

// Without the totals that a line of this width has no room for: those at the end, but not what is
// lost. Their names go into `left_out`.
Report fitted(Report row, std::size_t width, std::vector<std::string>& left_out);

class IntervalLines {
 public:
  // Error: Usage, a format that has no lines.
  static Result<IntervalLines> create(const PrintOptions& options);

  // Error: standard output cannot be written to.
  Result<> print(const Report& interval);

  // What must be known about the truth of all rows; nothing if there was none.
  Result<> end();

 private:
  IntervalLines(LinePrinter printer, std::size_t width)
      : printer_(std::move(printer)), width_(width) {}

  LinePrinter printer_;
  std::size_t width_;                  // of text for people; 0: as wide as it needs to be
  std::vector<std::string> left_out_;  // for want of room
  std::optional<Caveats> caveats_;     // of all intervals
};

}  // namespace memtrace
