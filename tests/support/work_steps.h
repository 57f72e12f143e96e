// Steps of an event script: begins and ends of the kernel's work on memory.
#pragma once

#include <array>
#include <string>

#include "support/event_script.h"

namespace memtrace::test {

inline std::string event_of(WorkKind kind, bool ends) {
  struct Names {
    const char* begin;
    const char* end;
  };

  constexpr std::array<Names, kWorkKinds> kNames = {{
      {"vmscan:mm_vmscan_direct_reclaim_begin", "vmscan:mm_vmscan_direct_reclaim_end"},
      {"vmscan:mm_vmscan_memcg_reclaim_begin", "vmscan:mm_vmscan_memcg_reclaim_end"},
      {"vmscan:mm_vmscan_memcg_softlimit_reclaim_begin",
       "vmscan:mm_vmscan_memcg_softlimit_reclaim_end"},
      {"vmscan:mm_vmscan_node_reclaim_begin", "vmscan:mm_vmscan_node_reclaim_end"},
      {"vmscan:mm_shrink_slab_start", "vmscan:mm_shrink_slab_end"},
      {"vmscan:mm_vmscan_kswapd_wake", "vmscan:mm_vmscan_kswapd_sleep"},
      {"compaction:mm_compaction_begin", "compaction:mm_compaction_end"},
      {"migrate:mm_migrate_pages_start", "migrate:mm_migrate_pages"},
  }};
  const Names& names = kNames[static_cast<std::size_t>(kind)];
  return ends ? names.end : names.begin;
}

inline Step begin(std::uint64_t at_ns, const WorkBegin& work) {
  return {.event = event_of(work.kind, false), .payload = work, .at_ns = at_ns};
}

inline Step end(std::uint64_t at_ns, const WorkEnd& work) {
  return {.event = event_of(work.kind, true), .payload = work, .at_ns = at_ns};
}

inline Step by(std::uint32_t pid, Step step) {
  step.pid = pid;
  return step;
}

// One pass over an inactive list.
inline Step inactive_pass(std::uint64_t scanned, std::uint64_t reclaimed) {
  return {.event = "vmscan:mm_vmscan_lru_shrink_inactive",
          .payload = LruShrink{.scanned = scanned, .reclaimed = reclaimed}};
}

}  // namespace memtrace::test
