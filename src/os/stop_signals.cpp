#include "os/stop_signals.h"

#include <sys/signalfd.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <utility>

namespace memtrace {
namespace {

// All that end a process by default and are sent from outside: by Ctrl-C and Ctrl-\, kill(1),
// timeout(1), a terminal that is gone (the file shall be whole all the same), a used up ulimit -t.
constexpr auto kStopSignals = std::to_array<int>(
    {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF, SIGXCPU});

sigset_t stop_set() {
  sigset_t set{};
  ::sigemptyset(&set);
  for (const int signal : kStopSignals) {
    ::sigaddset(&set, signal);
  }
  return set;
}

// The signal that a traced command gets for it: one for memtrace alone may mean something else to
// the command.
int passed_on(int signal) {
  const bool is_common =
      signal == SIGINT || signal == SIGTERM || signal == SIGHUP || signal == SIGQUIT;
  return is_common ? signal : SIGTERM;
}

}  // namespace

StopSignals::StopSignals() {
  const sigset_t set = stop_set();
  ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
  // A file that may grow no more (ulimit -f) shall be an error of write(2), not our end.
  ::signal(SIGXFSZ, SIG_IGN);
  fd_.reset(::signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC));
}

StopSignals::~StopSignals() {
  look();  // what came last has nothing more to stop
  if (asked_.count > 0) {
    return;
  }
  const sigset_t set = stop_set();
  ::pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

std::optional<StopSignals::Signal> StopSignals::poll() {
  look();
  if (waiting_.empty()) {
    return std::nullopt;
  }
  const Signal signal = waiting_.front();
  waiting_.pop_front();
  return signal;
}

StopSignals::Asked StopSignals::asked() {
  look();
  return asked_;
}

bool StopSignals::take_user_request() {
  look();
  return std::exchange(was_requested_, false);
}

void StopSignals::look() {
  signalfd_siginfo info{};
  while (::read(fd_.get(), &info, sizeof(info)) == static_cast<ssize_t>(sizeof(info))) {
    if (user_requests_ && info.ssi_signo == SIGUSR2) {
      was_requested_ = true;
      continue;
    }
    waiting_.push_back({.number = passed_on(static_cast<int>(info.ssi_signo)),
                        .from_terminal = info.ssi_code == SI_KERNEL});
    asked_.first = asked_.count == 0 ? std::chrono::steady_clock::now() : asked_.first;
    ++asked_.count;
  }
}

void reset_signals() {
  sigset_t none{};
  ::sigemptyset(&none);
  ::pthread_sigmask(SIG_SETMASK, &none, nullptr);
  ::signal(SIGPIPE, SIG_DFL);
  ::signal(SIGXFSZ, SIG_DFL);
}

}  // namespace memtrace
