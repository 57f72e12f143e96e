// All readers of observer.h.
#pragma once

#include "observe/proc_observer.h"

namespace memtrace {

// What limited the memory of a process whose system call failed for want of it.
extern const ObservationReader observe_limits;

// System V shared memory segments at the end of a recording that has calls about them.
extern const ObservationReader observe_segments;

// The victim of a kill for lack of memory, and the machine at that moment.
extern const ObservationReader observe_oom;

// How much memory was free when a process had reclaimed some itself, and whose process it was.
extern const ObservationReader observe_reclaim;

// How much memory was free in the zone of a compaction that has ended, and in how small pieces.
extern const ObservationReader observe_zones;

// How much memory was free in each zone when the kernel could not allocate, in how small pieces,
// and what is pinned.
extern const ObservationReader observe_free_blocks;

// How large processes were, at the end of a recording of what is resident.
extern const ObservationReader observe_sizes;

// Memory and CPUs of the NUMA nodes, at the end of a recording with physical addresses.
extern const ObservationReader observe_nodes;

}  // namespace memtrace
