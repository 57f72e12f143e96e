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

}  // namespace

std::vector<std::size_t> choose_rungs(std::span<const std::uint64_t> hits,
                                      const HitCost& cost,
                                      double budget_ns) {
  const std::uint64_t all_hits = std::accumulate(hits.begin(), hits.end(), std::uint64_t{0});
  const double for_samples = budget_ns - static_cast<double>(all_hits) * cost.counted_ns;
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

}  // namespace memtrace
