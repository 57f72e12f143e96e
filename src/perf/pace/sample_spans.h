// When each event of a ladder was enabled, and one in how many slots of time that was: which
// samples count, and for how many. One thread enables events while another one asks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <mutex>
#include <span>
#include <vector>

namespace memtrace {

struct SampleSpan {
  static constexpr std::uint64_t kOpen = std::numeric_limits<std::uint64_t>::max();

  std::uint64_t from_ns = 0;  // by the records' clock
  std::uint64_t to_ns = kOpen;
  std::uint64_t share = 1;  // 4: one in four slots of time is watched
};

class SampleSpans {
 public:
  // `enable` enables the events and returns the span: no sample is judged before it is known.
  // `events`: indices into EventSet::events(). The spans of each come in the order of time.
  template <typename Enable>
  void add(std::span<const std::uint32_t> events, Enable enable) {
    const std::lock_guard lock(mutex_);
    const SampleSpan span = enable();
    for (const std::uint32_t event : events) {
      add_to(event, span);
    }
  }

  // The last span of the event ends then, unless it ended before.
  void end(std::uint32_t event, std::uint64_t to_ns);

  // The share of the span that the time lies in; 0: the event is enabled on one CPU after the
  // other, and by then it was not enabled everywhere. Times are asked for in ascending order.
  std::uint64_t share_at(std::uint32_t event, std::uint64_t time_ns);

 private:
  void add_to(std::uint32_t event, const SampleSpan& span);

  std::mutex mutex_;
  std::vector<std::deque<SampleSpan>> by_event_;
};

}  // namespace memtrace
