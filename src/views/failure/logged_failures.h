// Why memory was refused, by the kernel's log: allocations that failed, and kills. Nothing needs to
// have been recorded.
#pragma once

#include <string_view>

#include "report/report.h"

namespace memtrace {

Report report_logged_failures(std::string_view log);

}  // namespace memtrace
