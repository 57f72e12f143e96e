// Which period each event gets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "perf/cost/hit_cost.h"

namespace memtrace {

// For each event an index into kPeriods. Rare events are recorded whole; the frequent ones share
// what is left, so that each of them has as many samples. `budget_ns`: what all hits may cost in
// the time in which they happened. Too little even for the longest period: all have that one.
std::vector<std::size_t> choose_rungs(std::span<const std::uint64_t> hits,
                                      const HitCost& cost,
                                      double budget_ns);

// How an event is recorded: one in kPeriods[rung] of its hits, in one in `share` slots of time.
struct EventPace {
  std::size_t rung = 0;
  std::uint64_t share = 1;

  friend bool operator==(const EventPace&, const EventPace&) = default;
};

// The same where counting alone may cost too much. Rare events are watched all the time; the others
// in windows, all with one share, with the period kWindowRung.
std::vector<EventPace> choose_paces(std::span<const std::uint64_t> hits,
                                    const HitCost& cost,
                                    double budget_ns);

// From what is now to what is wanted: at once where that costs less, else by one step, for a
// program that did nothing for a moment goes on.
std::vector<EventPace> step_towards(std::span<const EventPace> now,
                                    std::span<const EventPace> wanted);

}  // namespace memtrace
