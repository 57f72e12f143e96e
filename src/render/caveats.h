// Caveats as sentences: the end of every text report, and what a program may say on stderr beside
// the formats that have no place for them (csv, folded).
#pragma once

#include <string>
#include <vector>

#include "report/report.h"

namespace memtrace {

// At least one line: "Lost: none." when nothing was.
std::vector<std::string> caveat_lines(const Caveats& caveats);

}  // namespace memtrace
