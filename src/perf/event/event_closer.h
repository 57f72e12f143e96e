// Closes descriptors of events beside other work.
//
// When the last descriptor of a probe or a tracepoint is closed, the kernel removes the event and
// waits for several grace periods of RCU, one event after the other: 35 ms for a tracepoint and
// 90 ms for a user probe on 6.18. perf_trace_destroy (kernel/trace/trace_event_perf.c) holds
// event_mutex during the wait, so neither an order nor more threads shorten it. The recorder reads,
// sorts and names records during that time.
//
// User probes go first: each one that is there costs the watched program time. As soon as all of
// them are closed, their definitions can go, too.
#pragma once

#include <functional>
#include <thread>
#include <utility>
#include <vector>

#include "perf/event/event_set.h"

namespace memtrace {

class EventCloser {
 public:
  // `after_probes`, which may be empty, is called once by the closing thread, as soon as all events
  // of user probes are closed.
  explicit EventCloser(std::function<void()> after_probes)
      : after_probes_(std::move(after_probes)) {}

  EventCloser(const EventCloser&) = delete;
  EventCloser& operator=(const EventCloser&) = delete;
  EventCloser(EventCloser&&) = delete;
  EventCloser& operator=(EventCloser&&) = delete;

  ~EventCloser() { wait(); }

  // Some of them, while the others go on.
  void close_early(std::vector<OpenedFd> fds);

  // The last ones first, which are those of probes. It is told to a terminal when it takes long.
  void start(std::vector<OpenedFd> fds);

  bool has_started() const { return has_started_; }

  // Until all are closed.
  void wait();

 private:
  void close_all();
  void note_probes_closed();

  std::function<void()> after_probes_;
  std::vector<OpenedFd> fds_;
  std::thread thread_;
  bool has_started_ = false;
};

}  // namespace memtrace
