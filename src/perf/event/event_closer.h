// Closes descriptors of events beside other work.
//
// With the last descriptor of an event that is a probe or a tracepoint the kernel removes it, and
// waits for several grace periods of RCU, one event after the other
// (kernel/trace/trace_event_perf.c, perf_trace_destroy, holds event_mutex meanwhile): 35 ms for a
// tracepoint and 90 ms for a user probe on 6.18. No order and no number of threads makes it less,
// but what has been recorded can be read, sorted and named meanwhile.
#pragma once

#include <thread>
#include <vector>

#include "perf/event/event_set.h"

namespace memtrace {

class EventCloser {
 public:
  EventCloser() = default;
  EventCloser(const EventCloser&) = delete;
  EventCloser& operator=(const EventCloser&) = delete;

  ~EventCloser() { wait(); }

  // The last ones first. It is told to a terminal when it takes long.
  void start(std::vector<OpenedFd> fds);

  // Until all are closed.
  void wait();

 private:
  void close_all();

  std::vector<OpenedFd> fds_;
  std::thread thread_;
};

}  // namespace memtrace
