// Whether an event's filter holds for the events that child processes inherit of it.
#pragma once

#include <cstdint>

#include "perf/event/event_fd.h"

namespace memtrace {

// Tried with a child and a filter that nothing passes, which the end of the child would: the events
// of children have none of their own, and RHEL 6 does not ask for their parent's
// (kernel/events/core.c, perf_tp_filter_match). `exit_event_id` is that of
// sched:sched_process_exit. True also when it cannot be tried.
bool filters_reach_children(std::uint64_t exit_event_id, const KernelInterface& kernel = {});

}  // namespace memtrace
