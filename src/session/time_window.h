// --time: the part of a recording that a report is about.
#pragma once

#include <cstdint>
#include <limits>
#include <string_view>

#include "base/result.h"

namespace memtrace {

// Both since the recording began, or where that is not known since its first event.
struct TimeWindow {
  std::uint64_t start_ns = 0;
  std::uint64_t stop_ns = std::numeric_limits<std::uint64_t>::max();
};

// "1.5,3", "200ms,", ",2m": from the first to the second, in seconds unless a unit is given; one of
// them may be left out. Error: Usage.
Result<TimeWindow> parse_time_window(std::string_view text);

}  // namespace memtrace
