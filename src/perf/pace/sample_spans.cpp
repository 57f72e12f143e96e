#include "perf/pace/sample_spans.h"

#include <algorithm>

namespace memtrace {

void SampleSpans::add_to(std::uint32_t event, const SampleSpan& span) {
  by_event_.resize(std::max<std::size_t>(by_event_.size(), event + std::size_t{1}));
  by_event_[event].push_back(span);
}

void SampleSpans::end(std::uint32_t event, std::uint64_t to_ns) {
  const std::lock_guard lock(mutex_);
  if (event < by_event_.size() && !by_event_[event].empty()) {
    SampleSpan& last = by_event_[event].back();
    last.to_ns = std::min(last.to_ns, to_ns);
  }
}

std::uint64_t SampleSpans::share_at(std::uint32_t event, std::uint64_t time_ns) {
  const std::lock_guard lock(mutex_);
  if (event >= by_event_.size()) {
    return 0;
  }
  std::deque<SampleSpan>& spans = by_event_[event];
  while (!spans.empty() && spans.front().to_ns <= time_ns) {
    spans.pop_front();
  }
  return spans.empty() || time_ns < spans.front().from_ns ? 0 : spans.front().share;
}

}  // namespace memtrace
