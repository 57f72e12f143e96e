// Gives the terminal back as it was, however memtrace ends: a child waits for the end of its
// parent, which may be killed without a word (the OOM killer sends SIGKILL).
#pragma once

#include <sys/types.h>
#include <termios.h>

#include <string_view>

#include "base/result.h"
#include "os/unique_fd.h"

namespace memtrace {

class TerminalGuard {
 public:
  struct Setup {
    int terminal = -1;         // a descriptor that never waits (O_NONBLOCK)
    termios before{};          // its settings
    std::string_view restore;  // what ends the full screen; lives as long as the program
    int messages = -1;         // a file that standard error goes to, or -1
    int standard_error = -1;   // what it was before
  };

  // Error: there is no room for a process more.
  static Result<TerminalGuard> start(const Setup& setup);
  TerminalGuard(TerminalGuard&& other) noexcept;
  TerminalGuard& operator=(TerminalGuard&&) = delete;
  TerminalGuard(const TerminalGuard&) = delete;
  TerminalGuard& operator=(const TerminalGuard&) = delete;

  // Has the child restore everything, and waits until it has.
  ~TerminalGuard();

 private:
  TerminalGuard(pid_t child, UniqueFd alive) : child_(child), alive_(std::move(alive)) {}

  pid_t child_ = -1;
  UniqueFd alive_;  // the writing end of a pipe that nobody writes to
};

}  // namespace memtrace
