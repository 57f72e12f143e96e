// The names that resolve() put into a report, for its cells.
#pragma once

#include <string>

#include "report/report.h"

namespace memtrace {

// The frames of a stack or location cell; nullptr when the cell is neither or has no names.
const Frames* frames_of(const Report& report, const Cell& cell);

// The innermost function of a location, "" when it is not known.
std::string location_name(const Report& report, LocationId id);

}  // namespace memtrace
