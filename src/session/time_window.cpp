#include "session/time_window.h"

#include <algorithm>
#include <optional>
#include <string>

#include "base/units.h"
#include "base/wall_time.h"

namespace memtrace {
namespace {

Error wrong_window(std::string_view text) {
  return {"--time " + std::string(text),
          0,
          "takes a start and an end since the recording began, such as 1.5,3 or ,2m, or times of "
          "day, such as 14:03,14:05:30 or '2026-11-23 23:59,'",
          ErrorKind::Usage};
}

// One end; false: it is no time at all.
bool read_end(std::string_view text, std::uint64_t& since_ns, std::string& wall) {
  if (text.empty()) {
    return true;
  }
  if (looks_like_wall_time(text)) {
    wall = text;
    return parse_wall_time(text, 0).has_value();
  }
  const auto duration_ns = parse_duration_ns(text);
  since_ns = duration_ns.value_or(0);
  return duration_ns.has_value();
}

}  // namespace

Result<TimeWindow> parse_time_window(std::string_view text) {
  const auto comma = text.find(',');
  if (comma == std::string_view::npos || text.size() == 1) {
    return wrong_window(text);
  }
  TimeWindow window;
  const bool are_times = read_end(text.substr(0, comma), window.start_ns, window.wall_start) &&
                         read_end(text.substr(comma + 1), window.stop_ns, window.wall_stop);
  if (!are_times || (!window.is_of_wall() && window.start_ns >= window.stop_ns)) {
    return wrong_window(text);
  }
  return window;
}

Result<TimeWindow> TimeWindow::since(std::uint64_t began_ns, const ClockPair& clock) const {
  const std::string asked = "--time " + wall_start + "," + wall_stop;
  if (!clock.is_known()) {
    return Error{asked + ": the recording does not say what time of day it was made at",
                 0,
                 "give times since the recording began, such as 1.5,3",
                 ErrorKind::Usage};
  }
  TimeWindow window{.start_ns = start_ns, .stop_ns = stop_ns};
  const std::uint64_t began_wall_ns = clock.wall_of(began_ns);
  const auto offset_of = [began_wall_ns](const std::string& wall) {
    const std::uint64_t wall_ns = *parse_wall_time(wall, began_wall_ns);
    return wall_ns - std::min(wall_ns, began_wall_ns);
  };
  if (!wall_start.empty()) {
    window.start_ns = offset_of(wall_start);
  }
  if (!wall_stop.empty()) {
    window.stop_ns = offset_of(wall_stop);
  }
  if (window.start_ns >= window.stop_ns) {
    return Error{asked + ": the end is not after the start",
                 0,
                 "the recording began at " + rfc3339(began_wall_ns),
                 ErrorKind::Usage};
  }
  return window;
}

}  // namespace memtrace
