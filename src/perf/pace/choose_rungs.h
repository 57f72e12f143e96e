// Which period each event gets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "perf/pace/hit_cost.h"

namespace memtrace {

// For each event an index into kPeriods. Rare events are recorded whole; the frequent ones share
// what is left, so that each of them has as many samples. `budget_ns`: what all hits may cost in
// the time in which they happened. Too little even for the longest period: all have that one.
std::vector<std::size_t> choose_rungs(std::span<const std::uint64_t> hits,
                                      const HitCost& cost,
                                      double budget_ns);

}  // namespace memtrace
