#include "session/interval_clock.h"

#include <algorithm>
#include <limits>

namespace memtrace {

void IntervalClock::stop_before(std::uint64_t time_ns) {
  if (first_event_ns_ != 0 && time_ns > first_event_ns_) {
    setup_.window.stop_ns = std::min(setup_.window.stop_ns, time_ns - first_event_ns_ - 1);
  }
}

bool IntervalClock::is_past_window(std::uint64_t time_ns) const {
  return first_event_ns_ != 0 && time_ns > first_event_ns_ &&
         time_ns - first_event_ns_ > setup_.window.stop_ns;
}

std::optional<std::uint64_t> IntervalClock::enter_window(std::uint64_t first_event_ns) {
  if (first_event_ns_ != 0) {
    return std::nullopt;
  }
  first_event_ns_ = first_event_ns;
  const std::uint64_t max_ns = std::numeric_limits<std::uint64_t>::max() - first_event_ns;
  const std::uint64_t counted_from_ns = first_event_ns + std::min(setup_.window.start_ns, max_ns);
  start_ns_ = start_ns_ == 0 ? counted_from_ns : start_ns_;
  return counted_from_ns;
}

std::optional<View::Span> IntervalClock::take_ended(std::uint64_t now_ns,
                                                    std::uint64_t started_ns) {
  if (setup_.interval_ns == 0 || now_ns == 0) {
    return std::nullopt;
  }
  if (interval_end_ns_ == 0) {
    start_ns_ = started_ns != 0 ? started_ns : now_ns;
    interval_end_ns_ = start_ns_ + setup_.interval_ns;
  }
  if (now_ns < interval_end_ns_ || is_over()) {
    return std::nullopt;
  }
  const View::Span ended{start_ns_, interval_end_ns_};
  start_ns_ = interval_end_ns_;
  interval_end_ns_ += setup_.interval_ns;
  ++intervals_;
  return ended;
}

void IntervalClock::end(std::uint64_t known_end_ns) {
  last_ns_ = is_past_window(known_end_ns) ? first_event_ns_ + setup_.window.stop_ns
                                          : std::max(last_ns_, known_end_ns);
}

}  // namespace memtrace
