// SIGINT, SIGTERM and SIGHUP as something to ask for instead of something that interrupts: they are
// blocked while this lives, and seen by poll().
#pragma once

#include <optional>

#include "base/unique_fd.h"

namespace memtrace {

class StopSignals {
 public:
  StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;
  ~StopSignals();

  struct Signal {
    int number = 0;
    // The terminal sends Ctrl-C to every process in the foreground, the traced command too; kill(1)
    // to memtrace alone.
    bool from_terminal = false;
  };

  // A signal that has come since the last call.
  std::optional<Signal> poll();

 private:
  UniqueFd fd_;
};

// For a child before execve(2): nothing blocked, SIGPIPE as usual.
void reset_signals();

}  // namespace memtrace
