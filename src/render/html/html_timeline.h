// A report's timeline as the page's script reads it.
#pragma once

#include <nlohmann/json.hpp>

#include "report/report.h"

namespace memtrace {

// null for a report without one. Times are since the report's start.
nlohmann::ordered_json html_timeline(const Report& report);

}  // namespace memtrace
