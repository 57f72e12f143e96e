// --since-interval: what has changed from one interval's report to the next one's.
#pragma once

#include <optional>

#include "base/result.h"
#include "report/difference.h"
#include "report/report.h"

namespace memtrace {

class IntervalChanges {
 public:
  explicit IntervalChanges(DifferenceOptions options) : options_(std::move(options)) {}

  // `report` has all rows, with names. The first interval is compared with nothing: all is new.
  // Error: Usage, no table has the figure that is to be compared.
  Result<Report> since_last(Report report);

 private:
  DifferenceOptions options_;
  std::optional<Report> last_;
};

}  // namespace memtrace
