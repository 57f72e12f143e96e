#include "perf/pace/pacer.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <numeric>
#include <thread>

#include "base/text.h"
#include "os/system.h"
#include "perf/pace/choose_rungs.h"
#include "perf/pace/ladder.h"

namespace memtrace {
namespace {

constexpr std::uint64_t kSecondNs = 1'000'000'000;
constexpr std::uint64_t kFirstPauseNs = 100'000'000;

// The trap of a user probe where the kernel need not execute the instruction by itself
// (arch/x86/kernel/uprobes.c emulates most that functions begin with).
constexpr double kTrapNs = 1000;

// What memtrace itself takes to read, sort and write a sample.
constexpr double kOwnNs = 1000;

// Of less time a share says nothing.
constexpr double kLeastJudgedNs = 50'000'000;

// Rates rise between two looks.
constexpr double kUsedShare = 0.7;

// An event that a page fault of our own causes, to measure with.
const OpenedEvent* event_of_faults(std::span<const OpenedEvent> events) {
  const auto is_of_faults = [](const OpenedEvent& event) {
    const std::string& name = event.request.info.name;
    return name == "kmem:mm_page_alloc" || name == "exceptions:page_fault_user";
  };
  const auto found = std::ranges::find_if(events, is_of_faults);
  return found == events.end() ? nullptr : &*found;
}

// "2.3", "48"
std::string percent_text(double share) {
  constexpr double kPercent = 100;
  constexpr double kWhole = 10;
  const double percent = share * kPercent;
  return percent < kWhole ? fmt::format("{:.2g}", percent) : fmt::format("{:.0f}", percent);
}

std::string period_text(std::uint64_t least, std::uint64_t most) {
  return least == most ? fmt::format("one in {}", most)
                       : fmt::format("one in {} to {}", least, most);
}

template <typename Chosen>
Result<> set_enabled_all(std::span<const OpenedFd> fds, Chosen is_chosen, bool is_enabled) {
  for (const OpenedFd& opened : fds) {
    if (!is_chosen(opened)) {
      continue;
    }
    TRY(is_enabled ? opened.fd.enable() : opened.fd.disable());
  }
  return kDone;
}

}  // namespace

Pacer::Pacer(const EventSet& events, PaceSetup setup)
    : events_(events), setup_(std::move(setup)), clock_(setup_.tids, setup_.inherit) {
  find_ladders();
  measure_cost();
}

void Pacer::find_ladders() {
  for (std::uint32_t i = 0; i < events_.events().size(); ++i) {
    const EventRequest& request = events_.events()[i].request;
    if (!request.ladder) {
      continue;
    }
    if (ladders_.size() <= *request.ladder) {
      ladders_.resize(*request.ladder + 1);
    }
    Ladder& ladder = ladders_[*request.ladder];
    ladder.name = request.info.name;
    ladder.rungs.push_back(i);
  }
  std::erase_if(ladders_, [](const Ladder& ladder) { return ladder.rungs.empty(); });
}

void Pacer::measure_cost() {
  if (ladders_.empty()) {
    return;
  }
  const OpenedEvent* faults = event_of_faults(events_.events());
  const perf_event_attr attr =
      faults != nullptr ? faults->attr
                        : as_page_faults(events_.events()[ladders_.front().rungs.front()].attr);
  const auto measured = measure_hit_cost(attr);
  if (measured.ok()) {  // else what it costs on most machines
    cost_ = measured.value();
  }
}

Result<> Pacer::start(std::uint64_t now_ns) {
  const std::size_t last = kPeriods.size() - 1;
  for (Ladder& ladder : ladders_) {
    ladder.now = std::min(setup_.enabled_by_exec ? kFirstRung : last, ladder.rungs.size() - 1);
    ladder.least = ladder.now;
    ladder.most = ladder.now;
    TRY(setup_.enabled_by_exec ? Result<>(kDone) : set_enabled(ladder.rungs[ladder.now], true));
  }
  pause_ns_ = kFirstPauseNs;
  (void)take_hits();
  (void)clock_.take();
  if (setup_.enabled_by_exec) {
    due_ns_ = now_ns + pause_ns_;
    return kDone;
  }
  TRY(refuse_expensive_probes());
  std::this_thread::sleep_for(std::chrono::nanoseconds(kSecondNs));
  const CpuTimes times = clock_.take();
  lost_by_own_ = times.lost_by_own;
  TRY(choose(take_hits(), setup_.share * kUsedShare * static_cast<double>(times.watched_ns)));
  for (Ladder& ladder : ladders_) {
    ladder.least = ladder.now;
    ladder.most = ladder.now;
  }
  due_ns_ = monotonic_ns() + pause_ns_;
  return kDone;
}

// A probe traps at each hit, whatever its period: what its hits cost can only be refused.
Result<> Pacer::refuse_expensive_probes() {
  const auto is_probe = [](const OpenedFd& opened) { return opened.of_user_probe; };
  if (std::ranges::none_of(events_.fds(), is_probe)) {
    return kDone;
  }
  TRY(set_enabled_all(events_.fds(), is_probe, true));
  std::this_thread::sleep_for(std::chrono::nanoseconds(kFirstPauseNs));
  TRY(set_enabled_all(events_.fds(), is_probe, false));
  const Hits hits = take_hits();
  const CpuTimes times = clock_.take();
  const double share = fixed_ns(hits) / std::max(1.0, static_cast<double>(times.watched_ns));
  if (share <= setup_.share) {
    return kDone;
  }
  return Error{fmt::format("the programs call the probed functions {} times a second; this costs "
                           "them about {} % of their CPU time, and {} % is the limit",
                           hits.of_probes * (kSecondNs / kFirstPauseNs),
                           percent_text(share),
                           percent_text(setup_.share)),
               0,
               "a probe stops the program at each call, recorded or not; growth finds who uses "
               "memory without probes; or give a larger --max-overhead"};
}

Result<> Pacer::keep_up(std::uint64_t now_ns) {
  return now_ns < due_ns_ || pause_ns_ == 0 ? Result<>(kDone) : look(now_ns);
}

Result<> Pacer::look(std::uint64_t now_ns) {
  pause_ns_ = std::min(pause_ns_ * 2, kSecondNs);
  due_ns_ = now_ns + pause_ns_;
  const CpuTimes times = clock_.take();
  const Hits hits = take_hits();
  judge(hits, times);
  lost_by_own_ = times.lost_by_own;
  // What memtrace does besides its samples.
  const double own_rest =
      std::max(0.0, static_cast<double>(times.own_ns) - samples_of(hits) * kOwnNs);
  return choose(hits,
                setup_.share * kUsedShare * static_cast<double>(times.watched_ns) -
                    own_rest * times.lost_by_own);
}

Pacer::Hits Pacer::take_hits() {
  Hits hits{.of_ladders = std::vector<std::uint64_t>(ladders_.size())};
  const auto fds = events_.fds();
  counts_.resize(std::max(counts_.size(), fds.size()));
  for (std::size_t i = 0; i < fds.size(); ++i) {
    const OpenedFd& opened = fds[i];
    if (opened.tracking || opened.counts) {
      continue;
    }
    const std::uint64_t count = opened.fd.read_count();
    const std::uint64_t rise = count - std::min(count, std::exchange(counts_[i], count));
    if (!opened.on_ladder) {
      hits.always_recorded += rise;
      hits.of_probes += opened.of_user_probe ? rise : 0;
      continue;
    }
    const auto has_it = [&opened](const Ladder& ladder) {
      return std::ranges::find(ladder.rungs, opened.event) != ladder.rungs.end();
    };
    const auto at = std::ranges::find_if(ladders_, has_it) - ladders_.begin();
    hits.of_ladders[static_cast<std::size_t>(at)] += rise;
  }
  return hits;
}

// Of what is recorded whatever the periods.
double Pacer::fixed_ns(const Hits& hits) const {
  return static_cast<double>(hits.always_recorded) * whole_cost().recorded_ns +
         static_cast<double>(hits.of_probes) * kTrapNs;
}

HitCost Pacer::whole_cost() const {
  return {.counted_ns = cost_.counted_ns, .recorded_ns = cost_.recorded_ns + kOwnNs * lost_by_own_};
}

double Pacer::samples_of(const Hits& hits) const {
  auto samples = static_cast<double>(hits.always_recorded);
  for (std::size_t i = 0; i < ladders_.size(); ++i) {
    samples +=
        static_cast<double>(hits.of_ladders[i]) / static_cast<double>(kPeriods[ladders_[i].now]);
  }
  return samples;
}

void Pacer::judge(const Hits& hits, const CpuTimes& times) {
  const auto counted = static_cast<double>(
      std::accumulate(hits.of_ladders.begin(), hits.of_ladders.end(), std::uint64_t{0}));
  const double cost_ns = samples_of(hits) * cost_.recorded_ns + counted * cost_.counted_ns +
                         static_cast<double>(hits.of_probes) * kTrapNs +
                         static_cast<double>(times.own_ns) * times.lost_by_own;
  const auto watched_ns = static_cast<double>(times.watched_ns);
  cost_ns_ += cost_ns;
  watched_ns_ += watched_ns;
  if (watched_ns > kLeastJudgedNs) {
    largest_share_ = std::max(largest_share_, cost_ns / watched_ns);
  }
}

Result<> Pacer::choose(const Hits& hits, double budget_ns) {
  const std::vector<std::size_t> rungs =
      choose_rungs(hits.of_ladders, whole_cost(), budget_ns - fixed_ns(hits));
  const bool is_first = due_ns_ == 0;
  for (std::size_t i = 0; i < ladders_.size(); ++i) {
    Ladder& ladder = ladders_[i];
    const std::size_t wanted = std::min(rungs[i], ladder.rungs.size() - 1);
    // A program that did nothing for a moment goes on: back by one period at a time.
    TRY(move_to(ladder, wanted < ladder.now && !is_first ? ladder.now - 1 : wanted));
  }
  return kDone;
}

// The hits of the microseconds in between are missing, rather than there twice.
Result<> Pacer::move_to(Ladder& ladder, std::size_t rung) {
  if (rung == ladder.now) {
    return kDone;
  }
  TRY(set_enabled(ladder.rungs[ladder.now], false));
  TRY(set_enabled(ladder.rungs[rung], true));
  ladder.now = rung;
  ladder.least = std::min(ladder.least, rung);
  ladder.most = std::max(ladder.most, rung);
  return kDone;
}

Result<> Pacer::set_enabled(std::uint32_t event, bool is_enabled) const {
  const auto is_of_event = [event](const OpenedFd& opened) {
    return opened.on_ladder && opened.event == event;
  };
  return set_enabled_all(events_.fds(), is_of_event, is_enabled);
}

std::vector<std::string> Pacer::notes() const {
  std::vector<std::string> sampled;
  for (const Ladder& ladder : ladders_) {
    if (ladder.most > 0) {
      sampled.push_back(ladder.name + " " +
                        period_text(kPeriods[ladder.least], kPeriods[ladder.most]));
    }
  }
  const double share = watched_ns_ > 0 ? cost_ns_ / watched_ns_ : 0;
  std::vector<std::string> notes;
  if (!sampled.empty()) {
    notes.push_back("to keep the overhead below " + percent_text(setup_.share) +
                    " %, memtrace recorded only some of these events: " + join(sampled, ", "));
  }
  notes.push_back(
      fmt::format("estimated overhead: {} % of the watched programs' CPU time, at most {} % in a "
                  "second (a hit costs {:.0f} ns, with its sample {:.0f} ns)",
                  percent_text(share),
                  percent_text(largest_share_),
                  cost_.counted_ns,
                  cost_.recorded_ns));
  if (share > setup_.share) {
    notes.push_back(fmt::format(
        "the overhead was not kept below {} %: each hit costs time, also of events that "
        "are not recorded; record fewer events, or fewer processes",
        percent_text(setup_.share)));
  }
  return notes;
}

}  // namespace memtrace
