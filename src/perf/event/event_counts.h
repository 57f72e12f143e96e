// Reads the counts of events that the kernel only counts (EventRequest::count_only). read(2) of an
// inherited event gives the sum of the task and of all that descend from it
// (perf_event_read_value(), kernel/events/core.c).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "perf/event/event_set.h"

namespace memtrace {

class EventCounts {
 public:
  // Wanted at the end of each interval; 0: at the end of the recording alone.
  explicit EventCounts(std::uint64_t interval_ns) : interval_ns_(interval_ns) {}

  // When an interval has ended: the last nanosecond of it, which is the time of the counts that are
  // read now. `started_ns` 0: no call reads the records' clock, and nobody knows when an interval
  // ends; the counts are due ten times a second.
  std::optional<std::uint64_t> take_due(std::uint64_t now_ns, std::uint64_t started_ns);

  struct Rise {
    std::uint32_t event = 0;  // index into EventSet::events()
    std::uint32_t cpu = 0;
    std::uint64_t count = 0;  // since the last call, never 0
  };

  // Subtracts what memtrace did itself (OpenedFd::Counts::is_own).
  std::vector<Rise> read(std::span<const OpenedFd> fds);

 private:
  std::uint64_t interval_ns_;
  std::uint64_t due_ns_ = 0;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::int64_t> told_;  // by event and CPU
};

}  // namespace memtrace
