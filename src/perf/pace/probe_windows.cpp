#include "perf/pace/probe_windows.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>

#include "base/thread/blocked_signals.h"
#include "os/guarded_thread.h"
#include "os/system.h"
#include "os/this_thread.h"
#include "perf/pace/ladder.h"

namespace memtrace {
namespace {

// Opening the probes may take no more of a cycle than this.
constexpr std::uint64_t kMostOpeningNs = kProbeCycleNs / 4;

// Hits are counted for a part of the window's time only: each of them costs the programs a trap.
constexpr std::uint64_t kPartOfCounting = 4;
constexpr std::uint64_t kLeastCountingNs = 2'000'000;
constexpr std::uint64_t kLongestCountingNs = 100'000'000;
constexpr std::uint64_t kLeastCounted = 100;

// Length of the trial window.
constexpr std::uint64_t kTrialNs = 10'000'000;

// The steps in which a window looks at what it has covered.
constexpr std::uint64_t kSteps = 8;
constexpr std::uint64_t kLeastStepNs = 1'000'000;

}  // namespace

ProbeWindows::ProbeWindows(const ProbeOpener& opener, SampleSpans& spans, Setup setup)
    : opener_(opener),
      spans_(spans),
      setup_(std::move(setup)),
      clock_(setup_.tids(), setup_.inherit),
      chooser_(setup_.limit, setup_.part) {
  summary_.part = setup_.part;
  if (!opener_.events().empty()) {
    hit_cost_ns_ = setup_.recorded_ns + setup_.trap_ns(opener_.events().front());
  }
}

void ProbeWindows::start(std::vector<OpenedFd> always) {
  const std::uint64_t now_ns = monotonic_ns();
  for (const std::uint32_t event : opener_.events()) {
    spans_.end(event, now_ns);
  }
  news_.gaps.push_back(now_ns);
  const BlockedSignals blocked;
  thread_ = start_guarded_thread(
      [this, fds = std::make_shared<std::vector<OpenedFd>>(std::move(always))] {
        run(std::move(*fds));
      });
}

ProbeWindows::News ProbeWindows::take_news() {
  const Lock lock(mutex_);
  return std::exchange(news_, {});
}

ProbeWindows::Summary ProbeWindows::summary() {
  const Lock lock(mutex_);
  return summary_;
}

void ProbeWindows::stop() {
  {
    const Lock lock(mutex_);
    is_stopped_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) {
    thread_.join();
  }
}

// False: stop() was called.
bool ProbeWindows::wait_until(Lock& lock, std::uint64_t time_ns) {
  const std::chrono::steady_clock::time_point due{std::chrono::nanoseconds(time_ns)};
  return !changed_.wait_until(lock, due, [this] { return is_stopped_; });
}

void ProbeWindows::run(std::vector<OpenedFd> always) {
  const HurriedThread hurried;  // a window that closes late costs too much
  always.clear();
  (void)clock_.take();
  between_from_ns_ = monotonic_ns();
  Lock lock(mutex_);
  if (!wait_until(lock, between_from_ns_ + kTrialNs) || !try_out(lock)) {
    return;
  }
  std::uint64_t start_ns = monotonic_ns();
  while (run_cycle(lock, start_ns) && wait_until(lock, start_ns + kProbeCycleNs)) {
    start_ns = std::max(start_ns + kProbeCycleNs, monotonic_ns() - kProbeCycleNs);
  }
}

// The samples of this window do not count, because nobody knows yet how much it slows the programs.
bool ProbeWindows::try_out(Lock& lock) {
  return open_and_watch(lock, {.share = 0, .length_ns = kTrialNs, .slot_ns = kTrialNs});
}

// False: there are no more cycles.
bool ProbeWindows::run_cycle(Lock& lock, std::uint64_t start_ns) {
  const WindowChooser::Choice choice = chooser_.next();
  if (choice.share == 0) {
    fail("even the shortest windows would cost more");
    return false;
  }
  std::uniform_int_distribution<std::uint64_t> place(0, kProbeCycleNs - choice.length_ns);
  return wait_until(lock, start_ns + place(random_)) && open_and_watch(lock, choice);
}

// False: windows do not work here.
bool ProbeWindows::open_and_watch(Lock& lock, WindowChooser::Choice choice) {
  lock.unlock();
  const std::uint64_t opening_ns = monotonic_ns();
  auto opened = opener_.open(setup_.tids());
  const bool is_slow = monotonic_ns() - opening_ns > kMostOpeningNs;
  lock.lock();
  if (!opened.ok()) {
    fail("the probes cannot be opened again: " + describe(opened.error()));
    return false;
  }
  if (!opened.value().empty()) {  // else all have ended
    watch(lock, opened.take(), choice);
  }
  if (is_slow) {
    fail("opening the probes for all tasks and CPUs takes too long");
  }
  return !is_slow;
}

void ProbeWindows::note_between() {
  const std::uint64_t now_ns = monotonic_ns();
  chooser_.see_between({.wall_ns = static_cast<double>(now_ns - between_from_ns_),
                        .watched_ns = static_cast<double>(clock_.take().watched_ns)});
}

void ProbeWindows::watch(Lock& lock, std::vector<OpenedFd> probes, WindowChooser::Choice choice) {
  note_between();
  const Hits early = hits_of(probes);
  WatchedWindow window = open_window(choice);
  WindowChooser::Times times = cover_slot(lock, probes, choice);
  close_window(window);
  const Hits all = hits_of(probes);
  note_window(window, all);
  lock.unlock();
  probes.clear();
  lock.lock();
  times.probes_ns = taken_ns(lock, all.since(early), times);
  news_.cost_ns += times.probes_ns;
  chooser_.see_window(times);
  summary_.part = chooser_.part();
  (void)clock_.take();
  between_from_ns_ = monotonic_ns();
}

WatchedWindow ProbeWindows::open_window(WindowChooser::Choice choice) {
  WatchedWindow window{.share = choice.share};
  spans_.add(opener_.events(), [&] {
    window.from_ns = monotonic_ns();
    return SampleSpan{.from_ns = window.from_ns, .share = window.share};
  });
  return window;
}

void ProbeWindows::close_window(WatchedWindow& window) {
  const std::uint64_t now_ns = monotonic_ns();
  window.length_ns = now_ns - window.from_ns;
  for (const std::uint32_t event : opener_.events()) {
    spans_.end(event, now_ns);
  }
}

// Goes step by step, because the programs may call more or less often than in earlier windows.
WindowChooser::Times ProbeWindows::cover_slot(Lock& lock,
                                              const std::vector<OpenedFd>& probes,
                                              const WindowChooser::Choice& choice) {
  WindowProgress progress(choice, chooser_);
  const std::uint64_t step_ns = std::max(kLeastStepNs, choice.length_ns / kSteps);
  Hits before = hits_of(probes);
  std::uint64_t before_ns = monotonic_ns();
  while (progress.left_ns() > 0 &&
         wait_until(lock, before_ns + std::min(step_ns, progress.left_ns()))) {
    const Hits now = hits_of(probes);
    const std::uint64_t now_ns = monotonic_ns();
    progress.add({.wall_ns = static_cast<double>(now_ns - before_ns),
                  .watched_ns = static_cast<double>(clock_.take().watched_ns),
                  .probes_ns = static_cast<double>(now.since(before).all) * hit_cost_ns_});
    before = now;
    before_ns = now_ns;
  }
  return progress.times();
}

// The average over all probes, mostly of the last windows.
void ProbeWindows::note_hit_cost(const Hits& hits, double taken_ns) {
  if (hits.all >= kLeastCounted && taken_ns > 0) {
    const double cost_ns = taken_ns / static_cast<double>(hits.all);
    hit_cost_ns_ = is_hit_cost_measured_ ? (hit_cost_ns_ + cost_ns) / 2 : cost_ns;
    is_hit_cost_measured_ = true;
  }
}

void ProbeWindows::note_window(const WatchedWindow& window, const Hits& hits) {
  news_.hits += hits.all;
  news_.lost += hits.lost;
  if (window.share == 0) {
    return;
  }
  news_.gaps.push_back(window.from_ns + window.length_ns);
  news_.windows.push_back(window);
  const std::uint64_t least = summary_.least_share;
  summary_.least_share = least == 0 ? window.share : std::min(least, window.share);
  summary_.most_share = std::max(summary_.most_share, window.share);
}

// How much of the programs' CPU time the probes took in a window. The cost of a sample depends on
// the program's stacks and on the CPU's caches, so it is not measured but derived: counting alone
// shows how much CPU time the program's own work takes for each hit of one probe. All other time
// of the window was the probes'.
double ProbeWindows::taken_ns(Lock& lock, const Hits& hits, const WindowChooser::Times& times) {
  const auto busiest = busiest_known(hits);
  const auto work_ns = busiest
                           ? measure_work(lock, *busiest, static_cast<std::uint64_t>(times.wall_ns))
                           : std::nullopt;
  if (!work_ns) {
    return static_cast<double>(hits.all) * hit_cost_ns_;
  }
  const auto count = static_cast<double>(hits.by_event.at(*busiest));
  const double taken_ns = std::max(0.0, times.watched_ns - *work_ns * count);
  note_hit_cost(hits, taken_ns);
  return taken_ns;
}

std::optional<std::uint32_t> ProbeWindows::busiest_known(const Hits& hits) const {
  std::optional<std::uint32_t> busiest;
  std::uint64_t most = 0;
  for (const auto& [event, count] : hits.by_event) {
    if (count > most && setup_.has_known_trap(event)) {
      busiest = event;
      most = count;
    }
  }
  return busiest;
}

// CPU time that the programs use for each hit of the event, without its trap. Nothing: there were
// too few hits.
std::optional<double> ProbeWindows::measure_work(Lock& lock,
                                                 std::uint32_t event,
                                                 std::uint64_t window_ns) {
  lock.unlock();
  auto opened = opener_.open_counting(event, setup_.tids());
  lock.lock();
  if (!opened.ok()) {
    return std::nullopt;
  }
  const std::uint64_t from_ns = monotonic_ns();
  const std::uint64_t length_ns = std::max(kLeastCountingNs, window_ns / kPartOfCounting);
  (void)clock_.take();
  const Hits early = hits_of(opened.value());
  Hits hits;
  // On a busy machine the programs may have to wait for a CPU first.
  for (std::uint64_t at_ns = from_ns + length_ns;
       hits.all < kLeastCounted && at_ns <= from_ns + kLongestCountingNs && wait_until(lock, at_ns);
       at_ns += length_ns) {
    hits = hits_of(opened.value()).since(early);
  }
  const auto watched_ns = static_cast<double>(clock_.take().watched_ns);
  hits = hits_of(opened.value()).since(early);
  const double traps_ns = static_cast<double>(hits.all) * setup_.trap_ns(event);
  news_.cost_ns += traps_ns;
  lock.unlock();
  opened.value().clear();
  lock.lock();
  return hits.all < kLeastCounted || watched_ns <= traps_ns
             ? std::nullopt
             : std::optional((watched_ns - traps_ns) / static_cast<double>(hits.all));
}

ProbeWindows::Hits ProbeWindows::hits_of(const std::vector<OpenedFd>& probes) {
  Hits hits;
  for (const OpenedFd& probe : probes) {
    const std::uint64_t count = probe.fd.read_count();
    hits.by_event[probe.event] += count;
    hits.all += count;
    hits.lost += probe.fd.read_lost();
  }
  return hits;
}

ProbeWindows::Hits ProbeWindows::Hits::since(const Hits& early) const {
  Hits later = *this;
  later.all -= early.all;
  later.lost -= early.lost;
  for (auto& [event, count] : later.by_event) {
    const auto before = early.by_event.find(event);
    count -= before == early.by_event.end() ? 0 : before->second;
  }
  return later;
}

void ProbeWindows::fail(const std::string& why) {
  news_.failure = why;
}

}  // namespace memtrace
