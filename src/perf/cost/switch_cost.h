// What events cost a program without being hit. At each context switch of a task that has events of
// its own, the kernel takes them off the CPU, and later puts them on one again
// (perf_event_task_sched_out() and perf_event_task_sched_in(), kernel/events/core.c). Events of a
// whole CPU cost nothing there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "perf/event/event_fd.h"

namespace memtrace {

// How much longer a task takes to leave the CPU and to come back to it if it has so many events: of
// two threads that wake each other on one CPU; the fastest of several rounds. It is less between
// two tasks that have inherited the same events: the kernel changes their contexts over
// (perf_event_context_sched_out()). Error: there can be no such threads, or the kernel refuses the
// events.
Result<double> measure_switch_ns(std::size_t events);

class SwitchCost {
 public:
  struct Setup {
    std::vector<std::int32_t> tids;  // {-1}: the whole machine is watched, and no task has events
    bool inherit = false;            // the switches of children count, too
    std::size_t events = 1;          // of each task
    double limit = 0;                // of the programs' CPU time
  };

  explicit SwitchCost(const Setup& setup);

  // Since the last call. `watched_ns`: the CPU time of the programs since then.
  double take_ns(double watched_ns);

  // A sentence, once: the switches alone have cost more than the limit. "": nothing new.
  std::string take_news();

 private:
  void tell(double switches_a_ns, double share);

  double limit_;
  double ns_ = 0;  // of one switch
  std::vector<EventFd> counters_;
  std::uint64_t switches_ = 0;
  std::string news_;
  bool is_told_ = false;
};

}  // namespace memtrace
