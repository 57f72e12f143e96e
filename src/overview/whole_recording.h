// What is said of a recording as a whole: what was recorded where, how much, and what is missing.
#pragma once

#include <vector>

#include "perf/record/recording.h"
#include "report/report.h"
#include "session/session.h"

namespace memtrace {

// Title, span and totals.
void describe_recording(const Session& session, const Recording& recording, Report& report);

// What all views say of the recording, without what one of them says of itself.
Caveats shared_caveats(const std::vector<Report>& reports);

}  // namespace memtrace
