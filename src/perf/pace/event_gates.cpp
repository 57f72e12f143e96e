#include "perf/pace/event_gates.h"

#include <fmt/core.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <thread>
#include <utility>

#include "base/thread/blocked_signals.h"
#include "os/guarded_thread.h"
#include "os/system.h"
#include "os/this_thread.h"
#include "perf/pace/ladder.h"

namespace memtrace {
namespace {

// A thread that did not run for so long has lost the windows of that time.
constexpr std::uint64_t kMostLateNs = 10 * kCycleNs;

std::uint64_t cycle_after(std::uint64_t time_ns) {
  return (time_ns / kCycleNs + 1) * kCycleNs;
}

}  // namespace

EventGates::EventGates(const EventSet& events, SampleSpans& spans)
    : spans_(spans), fds_(events.events().size()) {
  for (const OpenedFd& opened : events.fds()) {
    if (opened.on_ladder) {
      fds_[opened.event].push_back(opened.fd.fd());
    }
  }
}

bool EventGates::has_windows(const std::vector<Choice>& choices) {
  return std::ranges::any_of(choices, [](const Choice& choice) { return choice.share > 1; });
}

// By the number, not by the EventFd: these move when events are added.
Result<> EventGates::set_enabled(std::uint32_t event, bool is_enabled) const {
  int error = 0;
  for (const int fd : fds_[event]) {
    const auto request = is_enabled ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE;
    error = ::ioctl(fd, request, 0) == 0 ? error : errno;
  }
  return error == 0 ? Result<>(kDone) : Error{"enabling or disabling an event", error, ""};
}

Result<> EventGates::start(std::vector<Choice> choices, bool enabled_by_exec) {
  const std::unique_lock lock(mutex_);
  wanted_ = choices;
  if (enabled_by_exec) {
    note_enabled_by_exec(std::move(choices));
    return kDone;
  }
  first_cycle_ns_ = cycle_after(monotonic_ns());
  if (has_windows(choices)) {
    std::this_thread::sleep_for(std::chrono::nanoseconds(first_cycle_ns_ - monotonic_ns()));
  }
  TRY(apply(choices));
  start_thread();
  return kDone;
}

void EventGates::note_enabled_by_exec(std::vector<Choice> choices) {
  for (const Choice& choice : choices) {
    spans_.add(std::span(&choice.event, 1), [] { return SampleSpan(); });
  }
  now_ = std::move(choices);
  enabled_.assign(now_.size(), Enabled{.since_ns = monotonic_ns()});
}

void EventGates::change(std::vector<Choice> choices) {
  const std::unique_lock lock(mutex_);
  wanted_ = std::move(choices);
  if (has_windows(now_)) {
    return;  // the thread does it between two cycles
  }
  if (has_windows(wanted_)) {
    first_cycle_ns_ = cycle_after(monotonic_ns());
    start_thread();
    changed_.notify_all();
    return;
  }
  (void)apply(wanted_).ok();
}

void EventGates::set_stretch(double stretch) {
  const std::unique_lock lock(mutex_);
  stretch_ = stretch;
}

std::vector<std::uint64_t> EventGates::take_enabled_ns() {
  const std::unique_lock lock(mutex_);
  const std::uint64_t now_ns = monotonic_ns();
  std::vector<std::uint64_t> all;
  for (std::size_t i = 0; i < now_.size(); ++i) {
    Enabled& enabled = enabled_[i];
    const bool is_enabled = now_[i].share == 1;
    all.push_back(enabled.before_ns + (is_enabled ? now_ns - enabled.since_ns : 0));
    enabled = {.since_ns = now_ns};
  }
  return all;
}

std::vector<WatchedWindow> EventGates::take_windows() {
  const std::unique_lock lock(mutex_);
  return std::exchange(windows_, {});
}

void EventGates::stop() {
  {
    const std::unique_lock lock(mutex_);
    is_stopped_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) {
    thread_.join();
  }
}

// What is enabled all the time. The hits of the microseconds in between are missing, rather than
// there twice.
Result<> EventGates::apply(const std::vector<Choice>& choices) {
  Result<> result = kDone;
  now_.resize(choices.size(), Choice{.event = 0, .share = 0});
  enabled_.resize(choices.size());
  for (std::size_t i = 0; i < choices.size(); ++i) {
    const Choice was = std::exchange(now_[i], choices[i]);
    if (was == now_[i]) {
      continue;
    }
    if (was.share == 1) {
      disable(was, enabled_[i]);
    }
    if (now_[i].share == 1) {
      auto enabled = enable(now_[i], enabled_[i]);
      result = enabled.ok() ? std::move(result) : std::move(enabled);
    }
  }
  return result;
}

void EventGates::disable(const Choice& was, Enabled& enabled) {
  const std::uint64_t now_ns = monotonic_ns();
  spans_.end(was.event, now_ns);
  enabled.before_ns += now_ns - enabled.since_ns;
  (void)set_enabled(was.event, false).ok();
}

Result<> EventGates::enable(const Choice& choice, Enabled& enabled) {
  Result<> result = kDone;
  spans_.add(std::span(&choice.event, 1), [&] {
    result = set_enabled(choice.event, true);
    enabled.since_ns = monotonic_ns();
    return SampleSpan{.from_ns = enabled.since_ns};
  });
  return result;
}

void EventGates::start_thread() {
  if (!thread_.joinable() && has_windows(wanted_)) {
    const BlockedSignals blocked;
    thread_ = start_guarded_thread([this] { run(); });
  }
}

// False: it shall end.
bool EventGates::wait_until(Lock& lock, std::uint64_t time_ns) {
  const std::chrono::steady_clock::time_point due{std::chrono::nanoseconds(time_ns)};
  return !changed_.wait_until(lock, due, [this] { return is_stopped_; });
}

void EventGates::wait_for_windows(Lock& lock) {
  changed_.wait(lock, [this] { return is_stopped_ || has_windows(wanted_); });
}

void EventGates::run() {
  const HurriedThread hurried;  // a window that closes late costs too much
  Lock lock(mutex_);
  std::uint64_t start_ns = first_cycle_ns_;
  while (!is_stopped_) {
    if (!has_windows(now_) && !has_windows(wanted_)) {
      wait_for_windows(lock);
      start_ns = cycle_after(monotonic_ns());
    }
    if (monotonic_ns() > start_ns + kMostLateNs) {
      start_ns = cycle_after(monotonic_ns());
    }
    if (wait_until(lock, start_ns)) {
      (void)apply(wanted_).ok();
      run_cycle(lock, start_ns);
      start_ns += kCycleNs;
    }
  }
}

void EventGates::run_cycle(Lock& lock, std::uint64_t start_ns) {
  std::uint64_t share = 1;
  std::vector<std::uint32_t> events;
  for (const Choice& choice : now_) {
    if (choice.share > 1) {
      share = choice.share;
      events.push_back(choice.event);
    }
  }
  if (events.empty()) {
    return;
  }
  const std::uint64_t slot = std::uniform_int_distribution<std::uint64_t>(0, share - 1)(random_);
  if (!wait_until(lock, start_ns + slot * (kCycleNs / share))) {
    return;
  }
  // A copy: take_windows() may be called while this waits.
  const WatchedWindow window = open_window(events, share);
  (void)wait_until(lock, window.from_ns + window.length_ns);
  for (std::size_t i = 0; i < now_.size(); ++i) {
    if (now_[i].share > 1) {
      (void)set_enabled(now_[i].event, false).ok();
      enabled_[i].before_ns += window.length_ns;
    }
  }
}

WatchedWindow EventGates::open_window(std::span<const std::uint32_t> events, std::uint64_t share) {
  WatchedWindow window;
  spans_.add(events, [&] {
    for (const std::uint32_t event : events) {
      (void)set_enabled(event, true).ok();
    }
    const std::uint64_t from_ns = monotonic_ns();
    const double slot_ns = static_cast<double>(kCycleNs) / static_cast<double>(share);
    const auto length_ns = static_cast<std::uint64_t>(slot_ns * stretch_);
    window = {.from_ns = from_ns, .length_ns = length_ns, .share = share};
    windows_.push_back(window);
    return SampleSpan{.from_ns = from_ns, .to_ns = from_ns + length_ns, .share = share};
  });
  return window;
}

}  // namespace memtrace
