// All that a recording holds: each event with its count, and each view's first rows.
#pragma once

#include "base/result.h"
#include "session/session.h"

namespace memtrace {

// options.views is filled in here; options.arrange.top is for each view's tables.
Result<Report> make_all_views_report(RecordSource& source, SessionOptions options);

}  // namespace memtrace
