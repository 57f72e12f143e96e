// Which time a session reports on: the window of a file, its intervals, and how far events have
// come.
//
//   first event    window.start                            window.stop
//        |--------------|==========|==========|==========|------|
//                   start_ns   interval ends           last_ns
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "session/time_window.h"
#include "views/view.h"

namespace memtrace {

class IntervalClock {
 public:
  struct Setup {
    TimeWindow window;
    std::uint64_t interval_ns = 0;     // 0: one report at the end
    std::uint64_t interval_count = 0;  // 0: until the source ends
  };

  explicit IntervalClock(Setup setup) : setup_(std::move(setup)) {}

  const Setup& setup() const { return setup_; }

  // Before the first event.
  void set_window(const TimeWindow& window) { setup_.window = window; }

  // All intervals that were asked for have ended.
  bool is_over() const { return setup_.interval_count != 0 && intervals_ >= setup_.interval_count; }

  // The window ends before `time_ns`, unless it ends earlier or has not been entered.
  void stop_before(std::uint64_t time_ns);

  bool is_past_window(std::uint64_t time_ns) const;

  // The window counts from here. Returns the time that events are counted from, or nothing when the
  // window has been entered before.
  std::optional<std::uint64_t> enter_window(std::uint64_t first_event_ns);

  // An interval that has ended by now, the oldest first: to be asked again until there is none. The
  // first one begins at `started_ns`, or now where that is 0.
  std::optional<View::Span> take_ended(std::uint64_t now_ns, std::uint64_t started_ns);

  bool has_ended_any() const { return intervals_ > 0; }

  void see(std::uint64_t event_ns) { last_ns_ = event_ns > last_ns_ ? event_ns : last_ns_; }

  // The source has ended, and is known to have gone on until then.
  void end(std::uint64_t known_end_ns);

  // The interval that has not ended yet.
  View::Span span() const { return {start_ns_, last_ns_}; }

  // 0 before the first event.
  std::uint64_t first_event_ns() const { return first_event_ns_; }

 private:
  Setup setup_;
  std::uint64_t first_event_ns_ = 0;
  std::uint64_t start_ns_ = 0;  // of the interval
  std::uint64_t last_ns_ = 0;
  std::uint64_t interval_end_ns_ = 0;
  std::uint64_t intervals_ = 0;  // that have ended
};

}  // namespace memtrace
