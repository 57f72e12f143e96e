// Keeps what recording costs the watched programs below a share of their CPU time
// (`--max-overhead`): counts hits, knows what one costs, and enables for each event the period that
// fits, all the time or in windows. It looks again twice a second.
//
//   hits of each event x what a hit costs
//   + context switches of watched tasks x what their events cost there
//   + memtrace's own CPU time
//   ------------------------------------------------------------------  <=  share
//                    CPU time of the watched programs
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "perf/cost/cpu_times.h"
#include "perf/cost/hit_cost.h"
#include "perf/cost/switch_cost.h"
#include "perf/cost/trap_cost.h"
#include "perf/event/event_set.h"
#include "perf/pace/choose_rungs.h"
#include "perf/pace/event_gates.h"
#include "perf/pace/probe_limit.h"
#include "perf/pace/sample_spans.h"
#include "perf/pace/window_events.h"
#include "perf/record/record.h"

namespace memtrace {

struct PaceSetup {
  double share = 0;  // 0.03: at most 3 %
  std::vector<std::int32_t> tids;
  bool inherit = false;
  bool enabled_by_exec = false;
  // The records' times can be compared with CLOCK_MONOTONIC: else there are no windows.
  bool has_monotonic_clock = true;
};

class Pacer {
 public:
  // `events` were opened from with_all_periods() and outlive it.
  Pacer(const EventSet& events, PaceSetup setup);

  // To be called before start() for programs that already run. It enables the user probes for a
  // tenth of a second. Then probes().is_exceeded() says whether they cost too much. They are to be
  // limited before start(), which may take a second: a disabled probe costs a trap, too. Error:
  // they cost too much and cannot be in windows, or cannot be enabled.
  Result<> try_probes();

  // Chooses the first periods and enables them. Where the command has not been let run yet, they
  // are enabled already; else hits are counted for a second. Error: an event cannot be enabled.
  Result<> start(std::uint64_t now_ns);

  // Looks again when it is time.
  void keep_up(std::uint64_t now_ns);

  // What user probes cost, and what is done about it.
  ProbeLimit& probes() { return probes_; }

  // A sentence, once: what cannot be kept below the limit. "": nothing new.
  std::string take_news() { return switches_.take_news(); }

  // From now on the probes, which EventSet has no more, are there in windows only. `tids`: of the
  // tasks to be watched, asked for at each window. Error: they cannot be, and `probes` is as it
  // was.
  Result<> begin_probe_windows(std::vector<OpenedFd>& probes,
                               std::function<std::vector<std::int32_t>()> tids);

  // EventSet has no probes any more.
  void forget_probes();

  // Gives a sample its weight. False: it is to be left out, for it was made while its event was
  // enabled on one CPU after the other, or after its window. May be asked after end().
  bool weigh(Sample& sample, std::uint64_t time_ns);

  // Nothing is enabled, disabled or read any more.
  void end();

  // That were opened since the last call.
  std::vector<WatchedWindow> take_windows();

  // Sentences for every report: which periods there were, and what recording has cost.
  std::vector<std::string> notes();

 private:
  // An event with all its periods.
  struct Ladder {
    std::string name;
    std::vector<std::uint32_t> rungs;  // indices into EventSet::events(), the shortest period first
    EventPace now;
    EventPace densest, sparsest;  // of those that were chosen

    // All that a sample counts for.
    static std::uint64_t weight(const EventPace& pace);
  };

  struct Hits {
    std::vector<std::uint64_t> of_ladders;  // that were counted: in windows alone, where there are
    std::uint64_t always_recorded = 0;      // of events with one period
    std::uint64_t of_probes = 0;            // part of these
    double traps_ns = 0;                    // what their traps cost
  };

  // What recording has cost, and what an open window takes of the programs' time (0.1: a tenth).
  struct Spent {
    double cost_ns = 0, watched_ns = 0;
    double largest_share = 0;
    double in_windows_ns = 0, watched_in_windows_ns = 0;  // of the last windows mostly

    double part_of_windows() const;
  };

  struct Looks {
    std::uint64_t at_ns = 0;  // the last one
    std::uint64_t due_ns = 0;
    std::uint64_t pause_ns = 0;  // 0: looks no more
  };

  void find_ladders();
  void expect_all_of_probes();
  std::vector<Ladder>::const_iterator ladder_of(std::uint32_t event) const;
  void measure_cost();
  double trap_ns(std::uint32_t event) const;
  Result<Hits> count_first();
  Hits take_hits();
  void add_recorded(const OpenedFd& opened, std::uint64_t rise, Hits& hits) const;
  void look(std::uint64_t now_ns);
  void judge(const Hits& hits, const CpuTimes& times, double switches_ns);
  void stretch_windows(const Hits& hits, double watched_ns, double enabled_share);
  double scale_up(Hits& hits, std::uint64_t interval_ns);
  HitCost whole_cost() const;
  double samples_of(const Hits& hits) const;
  double fixed_ns(const Hits& hits) const;
  double probes_ns(const Hits& hits) const;
  std::vector<EventPace> wanted_paces(const Hits& hits, double budget_ns) const;
  std::vector<EventPace> paces() const;
  std::vector<EventGates::Choice> choices() const;
  void set_paces(const std::vector<EventPace>& paces);
  void note_chosen(bool is_first);
  std::vector<std::string> notes_of_choices() const;

  const EventSet& events_;
  PaceSetup setup_;
  HitCost cost_;
  // Where it cannot be measured: of Linux 6.18 on a virtual machine.
  TrapCost trap_{.emulated_ns = 800, .stepped_ns = 9000};
  CpuTimesReader clock_;
  SwitchCost switches_;
  SampleSpans spans_;
  EventGates gates_;
  std::vector<Ladder> ladders_;
  WindowEvents window_events_;
  std::vector<std::uint64_t> counts_;  // of EventSet::fds(), when last read
  Looks looks_;
  double lost_by_own_ = 1;  // CpuTimes
  Spent spent_;
  ProbeLimit probes_;
};

}  // namespace memtrace
