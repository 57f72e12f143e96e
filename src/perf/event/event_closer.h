// Closes descriptors of events beside other work.
//
// When the last descriptor of a probe or a tracepoint is closed, the kernel removes the event and
// waits for several grace periods of RCU, one event after the other: 35 ms for a tracepoint and
// 90 ms for a user probe on 6.18. perf_trace_destroy (kernel/trace/trace_event_perf.c) holds
// event_mutex during the wait, so neither an order nor more threads shorten it. The recorder reads,
// sorts and names records during that time.
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
