// Signals stay away from the calling thread while this lives, and from the threads and processes
// that it starts: they inherit the mask (pthread_sigmask(3)). Ctrl-C is for the thread that waits
// for it.
#pragma once

#include <csignal>
#include <initializer_list>

namespace memtrace {

class BlockedSignals {
 public:
  // All but these.
  BlockedSignals(std::initializer_list<int> except = {}) {
    sigset_t blocked{};
    ::sigfillset(&blocked);
    for (const int signal : except) {
      ::sigdelset(&blocked, signal);
    }
    ::pthread_sigmask(SIG_SETMASK, &blocked, &before_);
  }

  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;
  BlockedSignals(BlockedSignals&&) = delete;
  BlockedSignals& operator=(BlockedSignals&&) = delete;

  ~BlockedSignals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_{};
};

}  // namespace memtrace
