// Two reports of one view, row by row: what has grown, shrunk, come and gone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/result.h"
#include "report/report.h"

namespace memtrace {

struct DifferenceOptions {
  // What makes recordings of unlike length or load comparable: figures by the length of their
  // reports, or as shares of the sum of all rows.
  enum class Scale : std::uint8_t { Whole, PerSecond, Share };

  std::string figure{};  // the column to compare; "" = the one that the table is sorted by
  Scale scale = Scale::Whole;
  std::size_t top = 0;  // rows to keep, the largest change first; 0 = all
};

// The first table of both that has keys. Rows are the same if their keys read the same: a stack by
// the names of its functions. Both reports hold all rows, named by resolve(). The result has the
// keys, the figure before and after, and the change. Error: Usage, no table of both has that
// figure.
Result<Report> difference(const Report& before,
                          const Report& after,
                          const DifferenceOptions& options);

}  // namespace memtrace
