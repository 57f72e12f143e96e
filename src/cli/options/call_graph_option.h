// --call-graph, with --user and --kernel, as what to ask the kernel for.
#pragma once

#include "base/result.h"
#include "cli/options/option_table.h"
#include "perf/event/event_attr.h"

namespace memtrace {

// "fp", "none", "dwarf" or "dwarf,BYTES". Unless given: dwarf where only user stacks are wanted
// and for probes on user code, else fp. Error: Usage.
Result<CallGraph> read_call_graph(const ParsedOptions& parsed);

}  // namespace memtrace
