#include "perf/live/self_exclusion.h"

#include <algorithm>
#include <array>

namespace memtrace {

// The page allocator makes whoever allocates reclaim, compact or kill, and the pages and processes
// that this happens to are anybody's (mm/page_alloc.c, __alloc_pages_slowpath). A block that is
// freed may be somebody else's too: an interrupt or an RCU callback may have run there.
bool is_of_own_memory(std::string_view event) {
  constexpr auto kGroups =
      std::to_array<std::string_view>({"vmscan:", "compaction:", "migrate:", "oom:", "signal:"});
  // Of vmscan in 2.6.32, and of kprobes.
  constexpr auto kParts = std::to_array<std::string_view>(
      {"free", "kmem:mm_vmscan_", ":oom_kill_process", ":swap_read"});
  return std::ranges::none_of(
             kGroups, [event](std::string_view group) { return event.starts_with(group); }) &&
         std::ranges::none_of(kParts, [event](std::string_view part) {
           return event.find(part) != std::string_view::npos;
         });
}

}  // namespace memtrace
