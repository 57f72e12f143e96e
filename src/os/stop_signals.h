// SIGINT, SIGTERM, SIGHUP and their like as something to ask for instead of something that
// interrupts: they are blocked while this lives, and seen by poll(). It outlives all probes that
// must be removed at the end. Once one has come, they stay blocked until the process ends: another
// one must not kill it on its last steps and change its exit status.
#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <optional>

#include "os/unique_fd.h"

namespace memtrace {

// For one thread: it asks with poll() between its work, and with asked() where it must wait.
class StopSignals {
 public:
  StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;
  StopSignals(StopSignals&&) = delete;
  StopSignals& operator=(StopSignals&&) = delete;
  ~StopSignals();

  struct Signal {
    int number = 0;
    // The terminal sends Ctrl-C to every process in the foreground, the traced command too; kill(1)
    // to memtrace alone.
    bool from_terminal = false;
  };

  // A signal that poll() has not given out yet.
  std::optional<Signal> poll();

  struct Asked {
    std::size_t count = 0;  // how many signals have come so far
    std::chrono::steady_clock::time_point first;
  };

  // Looks for new signals and leaves them to poll().
  Asked asked();

  // From now on SIGUSR2 stops nothing: take_user_request() reports it.
  void let_user_request() { user_requests_ = true; }

  // Whether SIGUSR2 has come since this was last asked.
  bool take_user_request();

 private:
  void look();

  UniqueFd fd_;
  std::deque<Signal> waiting_;
  Asked asked_;
  bool user_requests_ = false;  // SIGUSR2 is none of those that stop
  bool was_requested_ = false;
};

// For a child before execve(2): nothing blocked, SIGPIPE and SIGXFSZ as usual.
void reset_signals();

}  // namespace memtrace
