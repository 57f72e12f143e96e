#include "session/time_window.h"

#include <optional>
#include <string>

#include "base/units.h"

namespace memtrace {

Result<TimeWindow> parse_time_window(std::string_view text) {
  const auto comma = text.find(',');
  const std::string_view start = text.substr(0, comma);
  const std::string_view stop =
      comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
  TimeWindow window;
  const auto start_ns = start.empty() ? window.start_ns : parse_duration_ns(start);
  const auto stop_ns = stop.empty() ? window.stop_ns : parse_duration_ns(stop);
  const bool says_something = comma != std::string_view::npos && text.size() > 1;
  if (!says_something || !start_ns || !stop_ns || *start_ns >= *stop_ns) {
    return Error{"--time " + std::string(text),
                 0,
                 "takes a start and an end since the recording began, such as 1.5,3 or ,2m",
                 ErrorKind::Usage};
  }
  return TimeWindow{*start_ns, *stop_ns};
}

}  // namespace memtrace
