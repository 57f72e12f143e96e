#include "perf/pace/choose_rungs.h"

#include <algorithm>
#include <numeric>

#include "perf/pace/ladder.h"

namespace memtrace {
namespace {

double samples_of(std::uint64_t hits, std::size_t rung) {
  return static_cast<double>(hits) / static_cast<double>(kPeriods[rung]);
}

std::size_t rung_for(std::uint64_t hits, double most_samples) {
  std::size_t rung = 0;
  while (rung + 1 < kPeriods.size() && samples_of(hits, rung) > most_samples) {
    ++rung;
  }
  return rung;
}

std::uint64_t sum_of(std::span<const std::uint64_t> hits) {
  return std::accumulate(hits.begin(), hits.end(), std::uint64_t{0});
}

// Of all hits that are watched, a part of the budget pays for counting, and the rest for samples.
constexpr double kForCounting = 0.5;
// The events that are watched all the time beside those in windows may use this part, and half of
// it for counting.
constexpr double kForRare = 0.5;

// Which events are too frequent to be watched all the time.
std::vector<bool> find_frequent(std::span<const std::uint64_t> hits,
                                const HitCost& cost,
                                double budget_ns) {
  std::vector<std::size_t> rarest_first(hits.size());
  std::iota(rarest_first.begin(), rarest_first.end(), std::size_t{0});
  std::ranges::sort(rarest_first, {}, [hits](std::size_t event) { return hits[event]; });
  std::vector<bool> is_frequent(hits.size(), false);
  double counting_ns = 0;
  for (const std::size_t event : rarest_first) {
    counting_ns += static_cast<double>(hits[event]) * cost.counted_ns;
    is_frequent[event] = counting_ns > budget_ns * kForRare * kForCounting;
  }
  return is_frequent;
}

std::uint64_t share_for(double whole_ns, double budget_ns) {
  const auto fits = [&](std::uint64_t share) {
    return whole_ns <= budget_ns * static_cast<double>(share);
  };
  const auto* found = std::ranges::find_if(kWindowShares, fits);
  return found == kWindowShares.end() ? kWindowShares.back() : *found;
}

}  // namespace

std::vector<std::size_t> choose_rungs(std::span<const std::uint64_t> hits,
                                      const HitCost& cost,
                                      double budget_ns) {
  const double for_samples = budget_ns - static_cast<double>(sum_of(hits)) * cost.counted_ns;
  double left = std::max(0.0, for_samples / cost.recorded_ns);  // samples
  std::vector<std::size_t> rarest_first(hits.size());
  std::iota(rarest_first.begin(), rarest_first.end(), std::size_t{0});
  std::ranges::sort(rarest_first, {}, [hits](std::size_t event) { return hits[event]; });
  std::vector<std::size_t> rungs(hits.size());
  std::size_t events_left = hits.size();
  for (const std::size_t event : rarest_first) {
    rungs[event] = rung_for(hits[event], left / static_cast<double>(events_left));
    left = std::max(0.0, left - samples_of(hits[event], rungs[event]));
    --events_left;
  }
  return rungs;
}

std::vector<EventPace> choose_paces(std::span<const std::uint64_t> hits,
                                    const HitCost& cost,
                                    double budget_ns) {
  std::vector<EventPace> paces(hits.size());
  const double counting_ns = static_cast<double>(sum_of(hits)) * cost.counted_ns;
  const bool has_windows = counting_ns > budget_ns * kForCounting;
  const auto is_frequent =
      has_windows ? find_frequent(hits, cost, budget_ns) : std::vector<bool>(hits.size(), false);
  std::vector<std::uint64_t> rare(hits.begin(), hits.end());
  double in_windows_ns = 0;
  for (std::size_t i = 0; i < hits.size(); ++i) {
    if (is_frequent[i]) {
      rare[i] = 0;
      in_windows_ns += static_cast<double>(hits[i]) * cost.counted_ns +
                       samples_of(hits[i], kWindowRung) * cost.recorded_ns;
    }
  }
  const bool has_rare = sum_of(rare) > 0;
  const double for_rare_ns = has_windows ? budget_ns * kForRare : budget_ns;
  const auto rungs = choose_rungs(rare, cost, for_rare_ns);
  const std::uint64_t share =
      share_for(in_windows_ns, has_rare ? budget_ns * (1 - kForRare) : budget_ns);
  for (std::size_t i = 0; i < hits.size(); ++i) {
    paces[i] = is_frequent[i] ? EventPace{kWindowRung, share} : EventPace{rungs[i], 1};
  }
  return paces;
}

std::vector<EventPace> step_towards(std::span<const EventPace> now,
                                    std::span<const EventPace> wanted) {
  const auto largest = [](std::span<const EventPace> paces) {
    const auto found = std::ranges::max_element(paces, {}, &EventPace::share);
    return found == paces.end() ? std::uint64_t{1} : found->share;
  };
  const std::uint64_t share = std::max(largest(wanted), largest(now) / 2);
  std::vector<EventPace> next(now.size());
  for (std::size_t i = 0; i < now.size(); ++i) {
    const bool stays_in_windows = wanted[i].share > 1 || (now[i].share > 1 && share > 1);
    const std::size_t lowest =
        now[i].share > 1 ? kWindowRung : now[i].rung - std::min<std::size_t>(now[i].rung, 1);
    next[i] = stays_in_windows ? EventPace{kWindowRung, share}
                               : EventPace{std::max(wanted[i].rung, lowest), 1};
  }
  return next;
}

}  // namespace memtrace
