// The end of an event set's descriptors.
#include <unistd.h>

#include <chrono>

#include "base/log.h"
#include "base/text.h"
#include "perf/event/event_set.h"

namespace memtrace {

// With the last descriptor of an event that is a probe the kernel removes the probe, and waits for
// several grace periods of RCU, one probe after the other (kernel/trace/trace_event_perf.c,
// perf_trace_destroy, holds event_mutex during the wait). The last descriptors of all are those of
// the first task on the first CPU.
void EventSet::close() {
  constexpr std::chrono::seconds kPatience{1};
  const bool is_told = ::isatty(STDERR_FILENO) != 0;
  auto told_at = std::chrono::steady_clock::now();
  while (!fds_.empty()) {
    fds_.pop_back();
    const auto now = std::chrono::steady_clock::now();
    if (is_told && now - told_at > kPatience && !fds_.empty()) {
      told_at = now;
      inform(format("removing probes: at most %zu left", fds_.size()));
    }
  }
}

}  // namespace memtrace
