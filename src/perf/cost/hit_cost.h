// What a hit of an event costs the program that makes it, on this machine.
#pragma once

#include <linux/perf_event.h>

#include "base/result.h"

namespace memtrace {

struct HitCost {
  double counted_ns = 150;    // a hit that is counted and not recorded
  double recorded_ns = 2000;  // one that is recorded with its stacks
};

// Page faults of this thread, without the event, with an event that counts them and with one that
// records them; the fastest of several rounds. `attr`: an event that happens once at each fault,
// with the stacks that are to be recorded. Error: the kernel refuses the event or its ring.
Result<HitCost> measure_hit_cost(perf_event_attr attr);

// An event of page faults with the stacks of `attr`, for events that no thread can cause by itself:
// kmem:mm_page_alloc, for a tracepoint costs three times as much as a software event; or where
// tracefs cannot be read, page-faults.
perf_event_attr as_page_faults(perf_event_attr attr);

}  // namespace memtrace
