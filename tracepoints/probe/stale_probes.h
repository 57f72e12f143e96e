// Probes of memtrace processes that were killed: what they could not remove at their end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace memtrace {

struct StaleProbe {
  std::string name;     // "memtrace_heap_123:malloc"
  int errno_value = 0;  // why the kernel keeps it: EBUSY, somebody uses it; 0: it is removed
};

enum class StaleAction : std::uint8_t { List, Remove };

// What of memtrace is in uprobe_events and kprobe_events and has no process any more, in the order
// of these files. A probe that somebody uses stays. Error: the kernel has no uprobes, or not root.
Result<std::vector<StaleProbe>> stale_probes(StaleAction action);

// In any directory of tracefs's shape.
Result<std::vector<StaleProbe>> stale_probes_in(const std::string& tracing_directory,
                                                StaleAction action);

// Removes them: how many there were. Error: as above.
Result<std::size_t> remove_stale_probes();

}  // namespace memtrace
