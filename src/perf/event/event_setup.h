// All that is to be recorded, of whom, and how.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "perf/event/event_attr.h"
#include "perf/event/perf_calls.h"

namespace memtrace {

struct EventSetup {
  std::vector<EventRequest> events;  // without the tracking event: it is added in front
  AttrContext attrs;  // what the kernel can do and when it wakes us is filled in by EventSet
  std::vector<std::int32_t> tids;  // {-1}: the whole machine
  std::size_t ring_bytes = 0;      // for each CPU; 0: chosen by default_ring_bytes()
  std::vector<std::string> notes;  // come first in EventSet::notes()
  const PerfCalls* calls = &system_perf_calls();
};

}  // namespace memtrace
