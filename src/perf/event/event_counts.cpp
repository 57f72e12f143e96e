#include "perf/event/event_counts.h"

#include <algorithm>

namespace memtrace {
namespace {

constexpr std::uint64_t kLongestStepNs = 100'000'000;

}  // namespace

std::optional<std::uint64_t> EventCounts::take_due(std::uint64_t now_ns, std::uint64_t started_ns) {
  if (interval_ns_ == 0) {
    return std::nullopt;
  }
  const bool is_exact = started_ns != 0;
  const std::uint64_t step_ns = is_exact ? interval_ns_ : std::min(interval_ns_, kLongestStepNs);
  if (due_ns_ == 0) {
    due_ns_ = (is_exact ? started_ns : now_ns) + step_ns;
  }
  if (now_ns < due_ns_) {
    return std::nullopt;
  }
  const std::uint64_t ended_ns = now_ns - (now_ns - due_ns_) % step_ns;
  due_ns_ = ended_ns + step_ns;
  return is_exact ? ended_ns - 1 : now_ns;
}

std::vector<EventCounts::Rise> EventCounts::read(std::span<const OpenedFd> fds) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::int64_t> totals;
  for (const OpenedFd& opened : fds) {
    if (opened.counts) {
      const auto count = static_cast<std::int64_t>(opened.fd.read_count());
      totals[{opened.counts->event, opened.counts->cpu}] += opened.counts->is_own ? -count : count;
    }
  }
  std::vector<Rise> rises;
  for (const auto& [of, total] : totals) {
    std::int64_t& told = told_[of];
    // The descriptors are read one after the other: memtrace's own count may be ahead.
    if (total > told) {
      rises.push_back(
          {.event = of.first, .cpu = of.second, .count = static_cast<std::uint64_t>(total - told)});
      told = total;
    }
  }
  return rises;
}

}  // namespace memtrace
