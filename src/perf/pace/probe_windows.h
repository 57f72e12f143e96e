// Watches user probes for a part of the time only, where their traps cost too much. It opens the
// probes for one window of each cycle and closes them again. Between windows the programs run
// without probes.
//
//   cycle of 1 s   |                       |                       |
//   probes         |          ####         |  ####                 |
//                       open -^   ^- close
//
// As in perf/pace/event_gates.h the place of a window is drawn at random, and its samples count
// `share` times. Nobody sees what is freed between two windows: a gap is noted at the end of each.
// A thread of this class keeps the time.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "perf/cost/cpu_times.h"
#include "perf/event/event_set.h"
#include "perf/pace/probe_opener.h"
#include "perf/pace/sample_spans.h"
#include "perf/pace/window_chooser.h"
#include "perf/record/watched_window.h"

namespace memtrace {

class ProbeWindows {
 public:
  struct Setup {
    double limit = 0;        // of the programs' CPU time
    double part = 0;         // of it that the probes take while they are open
    double recorded_ns = 0;  // what a sample takes beside its trap, as far as is known
    std::function<double(std::uint32_t event)> trap_ns;
    // Whether trap_ns() is exact: memtrace chose the place, and it is no return, which traps twice.
    std::function<bool(std::uint32_t event)> has_known_trap;
    std::function<std::vector<std::int32_t>()> tids;  // of those to be watched now
    bool inherit = false;
  };

  // `opener` and `spans` outlive it.
  ProbeWindows(const ProbeOpener& opener, SampleSpans& spans, Setup setup);
  ProbeWindows(const ProbeWindows&) = delete;
  ProbeWindows& operator=(const ProbeWindows&) = delete;
  ProbeWindows(ProbeWindows&&) = delete;
  ProbeWindows& operator=(ProbeWindows&&) = delete;

  ~ProbeWindows() { stop(); }

  // `always`: the probes as they were watched until now, disabled.
  void start(std::vector<OpenedFd> always);

  // What has happened since the last call.
  struct News {
    std::vector<std::uint64_t> gaps;  // ends of windows, by the records' clock
    std::vector<WatchedWindow> windows;
    std::uint64_t hits = 0;
    double cost_ns = 0;  // that they took of the programs' time
    std::uint64_t lost = 0;
    std::string failure;  // why there are no windows any more; "": there are
  };

  News take_news();

  // What windows have been like.
  struct Summary {
    std::uint64_t least_share = 0, most_share = 0;  // 0: there was none
    double part = 0;
  };

  Summary summary();

  // Ends an open window at once. No other is opened. May be called again.
  void stop();

 private:
  using Lock = std::unique_lock<std::mutex>;

  // Of descriptors since they were opened.
  struct Hits {
    std::map<std::uint32_t, std::uint64_t> by_event;
    std::uint64_t all = 0;
    std::uint64_t lost = 0;

    Hits since(const Hits& early) const;
  };

  static Hits hits_of(const std::vector<OpenedFd>& probes);
  void run(std::vector<OpenedFd> always);
  bool wait_until(Lock& lock, std::uint64_t time_ns);
  bool try_out(Lock& lock);
  bool run_cycle(Lock& lock, std::uint64_t start_ns);
  bool open_and_watch(Lock& lock, WindowChooser::Choice choice);
  void watch(Lock& lock, std::vector<OpenedFd> probes, WindowChooser::Choice choice);
  WatchedWindow open_window(WindowChooser::Choice choice);
  void close_window(WatchedWindow& window);
  WindowChooser::Times cover_slot(Lock& lock,
                                  const std::vector<OpenedFd>& probes,
                                  const WindowChooser::Choice& choice);
  void note_hit_cost(const Hits& hits, double taken_ns);
  void note_window(const WatchedWindow& window, const Hits& hits);
  void note_between();
  double taken_ns(Lock& lock, const Hits& hits, const WindowChooser::Times& times);
  std::optional<std::uint32_t> busiest_known(const Hits& hits) const;
  std::optional<double> measure_work(Lock& lock, std::uint32_t event, std::uint64_t window_ns);
  void fail(const std::string& why);

  const ProbeOpener& opener_;
  SampleSpans& spans_;
  Setup setup_;
  CpuTimesReader clock_;
  std::uint64_t between_from_ns_ = 0;
  double hit_cost_ns_ = 0;             // of the programs' CPU time, on average
  bool is_hit_cost_measured_ = false;  // else it is what memtrace found on itself
  std::mt19937_64 random_{std::random_device()()};
  std::mutex mutex_;  // of all below
  std::condition_variable changed_;
  WindowChooser chooser_;
  News news_;
  Summary summary_;
  bool is_stopped_ = false;
  std::thread thread_;
};

}  // namespace memtrace
