#include "perf/event/event_closer.h"

#include <fmt/core.h>
#include <unistd.h>

#include <chrono>
#include <system_error>
#include <utility>

#include "base/log.h"
#include "base/text.h"
#include "os/guarded_thread.h"
#include "os/this_thread.h"

namespace memtrace {

void EventCloser::start(std::vector<OpenedFd> fds) {
  has_started_ = true;
  close_early(std::move(fds));
}

void EventCloser::close_early(std::vector<OpenedFd> fds) {
  wait();
  fds_ = std::move(fds);
  try {
    thread_ = start_guarded_thread([this] { close_all(); });
  } catch (const std::system_error&) {  // no more threads may be had
    close_all();
  }
}

void EventCloser::wait() {
  if (thread_.joinable()) {
    thread_.join();
  }
}

void EventCloser::close_all() {
  constexpr std::chrono::seconds kPatience{2};
  constexpr std::chrono::milliseconds kPause{200};
  const HurriedThread hurried;  // all of them are short calls
  const bool is_told = ::isatty(STDERR_FILENO) != 0;
  const std::size_t all = fds_.size();
  auto next = std::chrono::steady_clock::now() + kPatience;
  note_probes_closed();
  while (!fds_.empty()) {
    fds_.pop_back();
    note_probes_closed();
    const auto now = std::chrono::steady_clock::now();
    if (is_told && now >= next && !fds_.empty()) {
      next = now + kPause;
      show_status(fmt::format("removing probes: {} %", 100 * (all - fds_.size()) / all));
    }
  }
  show_status("");
}

void EventCloser::note_probes_closed() {
  if (after_probes_ && (fds_.empty() || !fds_.back().of_user_probe)) {
    std::exchange(after_probes_, nullptr)();
  }
}

}  // namespace memtrace
