// Names for the stacks and locations that a report mentions: looked up once, at the very end.
#pragma once

#include "report/namer.h"
#include "report/report.h"

namespace memtrace {

// Fills report.stacks, report.locations and report.modules, also in nested reports.
void resolve(Report& report, Namer& namer);

}  // namespace memtrace
