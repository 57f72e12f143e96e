// --time: the part of a recording that a report is about.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "base/result.h"
#include "perf/record/recording.h"

namespace memtrace {

// Both since the recording began, or where that is not known since its first event.
struct TimeWindow {
  std::uint64_t start_ns = 0;
  std::uint64_t stop_ns = std::numeric_limits<std::uint64_t>::max();
  // Instead, by the clock of the wall: what that is depends on when the recording was made.
  std::string wall_start{};
  std::string wall_stop{};

  bool is_of_wall() const { return !wall_start.empty() || !wall_stop.empty(); }

  // The same since `began_ns`. Error: the recording does not say what time it was then; Usage, an
  // end that is before the start.
  Result<TimeWindow> since(std::uint64_t began_ns, const ClockPair& clock) const;
};

// "1.5,3", "200ms,", ",2m": from the first to the second, in seconds unless a unit is given; or
// "14:03,14:05:30", "2026-11-23 23:59,": times of day (base/wall_time.h). One of them may be left
// out. Error: Usage.
Result<TimeWindow> parse_time_window(std::string_view text);

}  // namespace memtrace
