// --max-overhead: what recording may cost the watched programs.
#pragma once

#include "base/result.h"
#include "cli/options/option_table.h"

namespace memtrace {

// "3%" and "3" as a share, 0.03; 0 when it was not given. Error: Usage.
Result<double> read_max_overhead(const ParsedOptions& parsed);

}  // namespace memtrace
