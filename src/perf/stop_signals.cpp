#include "perf/stop_signals.h"

#include <sys/signalfd.h>
#include <unistd.h>

#include <csignal>

namespace memtrace {
namespace {

sigset_t stop_set() {
  sigset_t set{};
  ::sigemptyset(&set);
  ::sigaddset(&set, SIGINT);
  ::sigaddset(&set, SIGTERM);
  ::sigaddset(&set, SIGHUP);  // the terminal is gone: the file shall be whole all the same
  return set;
}

}  // namespace

StopSignals::StopSignals() {
  const sigset_t set = stop_set();
  ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
  fd_.reset(::signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC));
}

StopSignals::~StopSignals() {
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

void StopSignals::look() {
  signalfd_siginfo info{};
  while (::read(fd_.get(), &info, sizeof(info)) == static_cast<ssize_t>(sizeof(info))) {
    waiting_.push_back(
        {.number = static_cast<int>(info.ssi_signo), .from_terminal = info.ssi_code == SI_KERNEL});
    asked_.first = asked_.count == 0 ? std::chrono::steady_clock::now() : asked_.first;
    ++asked_.count;
  }
}

void reset_signals() {
  sigset_t none{};
  ::sigemptyset(&none);
  ::pthread_sigmask(SIG_SETMASK, &none, nullptr);
  ::signal(SIGPIPE, SIG_DFL);
}

}  // namespace memtrace
