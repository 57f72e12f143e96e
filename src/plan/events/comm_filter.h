// record --comm: the kernel tests the name of the thread before it makes a sample.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "perf/event/event_attr.h"

namespace memtrace {

// A filter expression: "comm == \"nginx\" || comm ~ \"php*\"". The kernel keeps 15 letters of a
// name (include/linux/sched.h, TASK_COMM_LEN), and knows the field since Linux 4.4. Error: Usage, a
// name that cannot stand in an expression.
Result<std::string> comm_expression(const std::vector<std::string>& names);

// Gives the expression to the kernel's tracepoints. Frees and probes on user code go without it:
// the thread that frees a block may be another than the one that allocated it. The result is a
// sentence that names the other events without it, "" when there are none. Error: Usage, no event
// takes it.
Result<std::string> filter_by_comm(const std::string& expression,
                                   std::vector<EventRequest>& requests);

}  // namespace memtrace
