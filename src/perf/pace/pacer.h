// Keeps what recording costs the watched programs below a share of their CPU time
// (`--max-overhead`): counts hits, knows what one costs, and enables for each event the period that
// fits. It looks again each second.
//
//   hits of each event x what a hit costs  +  memtrace's own CPU time
//   -----------------------------------------------------------------  <=  share
//                CPU time of the watched programs
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "perf/event/event_set.h"
#include "perf/pace/cpu_times.h"
#include "perf/pace/hit_cost.h"

namespace memtrace {

struct PaceSetup {
  double share = 0;  // 0.03: at most 3 %
  std::vector<std::int32_t> tids;
  bool inherit = false;
  bool enabled_by_exec = false;
};

class Pacer {
 public:
  // `events` were opened from with_all_periods() and outlive it.
  Pacer(const EventSet& events, PaceSetup setup);

  // Chooses the first periods and enables them. Where the command has not been let run yet, they
  // are enabled already; else hits are counted for a second. Error: an event cannot be enabled.
  Result<> start(std::uint64_t now_ns);

  // Looks again when it is time.
  Result<> keep_up(std::uint64_t now_ns);

  // Sentences for every report: which periods there were, and what recording has cost.
  std::vector<std::string> notes() const;

 private:
  // An event with all its periods.
  struct Ladder {
    std::string name;
    std::vector<std::uint32_t> rungs;  // indices into EventSet::events(), the shortest period first
    std::size_t now = 0;               // which is enabled
    std::size_t least = 0, most = 0;   // which were
  };

  struct Hits {
    std::vector<std::uint64_t> of_ladders;
    std::uint64_t always_recorded = 0;  // of events with one period
    std::uint64_t of_probes = 0;        // part of these
  };

  void find_ladders();
  void measure_cost();
  Result<> refuse_expensive_probes();
  Hits take_hits();
  Result<> look(std::uint64_t now_ns);
  void judge(const Hits& hits, const CpuTimes& times);
  HitCost whole_cost() const;
  double samples_of(const Hits& hits) const;
  double fixed_ns(const Hits& hits) const;
  Result<> choose(const Hits& hits, double budget_ns);
  Result<> move_to(Ladder& ladder, std::size_t rung);
  Result<> set_enabled(std::uint32_t event, bool is_enabled) const;

  const EventSet& events_;
  PaceSetup setup_;
  HitCost cost_;
  CpuTimesReader clock_;
  std::vector<Ladder> ladders_;
  std::vector<std::uint64_t> counts_;  // of EventSet::fds(), when last read
  std::uint64_t due_ns_ = 0;
  std::uint64_t pause_ns_ = 0;
  double lost_by_own_ = 1;  // CpuTimes
  double cost_ns_ = 0, watched_ns_ = 0;
  double largest_share_ = 0;
};

}  // namespace memtrace
