// Events that the kernel only counts (EventRequest::count_only): what their descriptors say, as it
// rises. read(2) of an inherited event gives the sum of the task and of all that descend from it
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

  // The time to give to the counts when it is time to read them: that of the last nanosecond of the
  // interval which has ended. `started_ns` 0: the clock of the records cannot be asked, so that it
  // is not known when an interval ends; they are read ten times a second then.
  std::optional<std::uint64_t> take_due(std::uint64_t now_ns, std::uint64_t started_ns);

  struct Rise {
    std::uint32_t event = 0;  // index into EventSet::events()
    std::uint32_t cpu = 0;
    std::uint64_t count = 0;  // since the last call, never 0
  };

  // What memtrace did itself is subtracted where it is counted, too (OpenedFd::is_own).
  std::vector<Rise> read(std::span<const OpenedFd> fds);

 private:
  std::uint64_t interval_ns_;
  std::uint64_t due_ns_ = 0;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::int64_t> told_;  // by event and CPU
};

}  // namespace memtrace
