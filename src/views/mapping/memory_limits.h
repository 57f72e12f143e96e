// What limited a process when a system call was refused memory: the reading that was made then, as
// cells, and which limits the call would have passed.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "report/report.h"
#include "state/world/observations.h"
#include "tracepoints/event/event_syscalls.h"
#include "views/reason/call_reasons.h"

namespace memtrace {

// A figure of the reading "limits" and the column that shows it.
struct LimitColumn {
  std::string_view fact;
  Unit unit = Unit::Bytes;
};

std::span<const LimitColumn> process_limit_columns();
std::span<const LimitColumn> machine_limit_columns();

// False if the process had ended when its limits were read.
bool has_process_limits(const Observation& limits);

// "RLIMIT_AS", "max_map_count": evidence, as another thread may have changed what was read a moment
// later. Empty where nothing is exceeded.
std::string exceeded_limits(const SystemCallDone& done, const Observation& limits);

}  // namespace memtrace
