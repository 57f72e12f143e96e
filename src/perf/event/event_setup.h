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
  CallGraph call_graph;
  std::vector<std::int32_t> tids;  // {-1}: the whole machine
  bool inherit = false;            // children of the tasks too
  bool enable_on_exec = false;
  bool data_mappings = false;
  std::size_t ring_bytes = 0;      // for each CPU; 0: chosen by default_ring_bytes()
  std::vector<std::string> notes;  // come first in EventSet::notes()
  const PerfCalls* calls = &system_perf_calls();
};

}  // namespace memtrace
