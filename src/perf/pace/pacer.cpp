#include "perf/pace/pacer.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <numeric>
#include <thread>

#include "base/text.h"
#include "os/system.h"
#include "perf/pace/choose_rungs.h"
#include "perf/pace/ladder.h"
#include "perf/pace/percent_text.h"

namespace memtrace {
namespace {

constexpr std::uint64_t kSecondNs = 1'000'000'000;
constexpr std::uint64_t kNsOfMs = 1'000'000;

// An open window takes no more of the programs' time than this, and what earlier looks saw of it
// counts on: each sees few windows.
constexpr double kMostOfWindow = 0.5;
constexpr double kOlderPart = 0.8;
constexpr std::uint64_t kFirstPauseNs = 100'000'000;
constexpr std::uint64_t kLongestPauseNs = 500'000'000;

// Of the first second, in which the hits are counted.
constexpr std::uint64_t kFirstShare = 8;
constexpr std::uint64_t kFirstStep = 3;  // eight cycles visit each of the eight places once

// What memtrace itself takes to read, sort and write a sample.
constexpr double kOwnNs = 1000;

// Of less time a share says nothing.
constexpr double kLeastJudgedNs = 50'000'000;

// Rates rise between two looks.
constexpr double kUsedShare = 0.7;
// To open and to close the probes costs the programs as well.
constexpr double kUsedByWindows = 0.6;

// An event that a page fault of our own causes, to measure with.
const OpenedEvent* event_of_faults(std::span<const OpenedEvent> events) {
  const auto is_of_faults = [](const OpenedEvent& event) {
    const std::string& name = event.request.info.name;
    return name == "kmem:mm_page_alloc" || name == "exceptions:page_fault_user";
  };
  const auto found = std::ranges::find_if(events, is_of_faults);
  return found == events.end() ? nullptr : &*found;
}

// Memtrace chooses their places (symbolize/code/probe_place.h): where the kernel emulates.
bool is_at_chosen_place(const OpenedEvent& event) {
  return event.request.info.name.starts_with("memtrace_heap");
}

// As in tracepoints/decode/heap.h.
bool is_at_return(const OpenedEvent& event) {
  return event.request.info.name.find("_ret") != std::string::npos;
}

// Of a task on one CPU: one of each ladder is enabled, and probes are there for a moment only. Two
// more tell CPU times and switches.
std::size_t events_of_task(const EventSet& events) {
  constexpr std::size_t kOfPacer = 2;
  const auto always_there = [](const OpenedEvent& event) {
    const EventRequest& request = event.request;
    return !request.is_of_windows() && request.probed_file.empty() &&
           (!request.ladder || request.info.period == kPeriods.front());
  };
  return kOfPacer + static_cast<std::size_t>(std::ranges::count_if(events.events(), always_there));
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

std::uint64_t Pacer::Ladder::weight(const EventPace& pace) {
  return kPeriods[pace.rung] * pace.share;
}

Pacer::Pacer(const EventSet& events, PaceSetup setup)
    : events_(events),
      setup_(std::move(setup)),
      clock_(setup_.tids, setup_.inherit),
      switches_({.tids = setup_.tids,
                 .inherit = setup_.inherit,
                 .events = events_of_task(events_),
                 .limit = setup_.share}),
      gates_(events_, spans_),
      window_events_(events_.events()),
      probes_(setup_.share) {
  find_ladders();
  expect_all_of_probes();
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
    if (!request.is_of_windows()) {
      ladder.rungs.push_back(i);
    }
  }
  std::erase_if(ladders_,
                [](const Ladder& ladder) { return ladder.rungs.size() < kPeriods.size(); });
}

// Of user probes all samples count, until there are windows.
void Pacer::expect_all_of_probes() {
  std::vector<std::uint32_t> probes;
  for (std::uint32_t i = 0; i < events_.events().size(); ++i) {
    if (!events_.events()[i].request.ladder && window_events_.has(i)) {
      probes.push_back(i);
    }
  }
  spans_.add(probes, [] { return SampleSpan(); });
}

std::vector<Pacer::Ladder>::const_iterator Pacer::ladder_of(std::uint32_t event) const {
  return std::ranges::find_if(ladders_, [event](const Ladder& ladder) {
    return std::ranges::find(ladder.rungs, event) != ladder.rungs.end();
  });
}

void Pacer::measure_cost() {
  if (std::ranges::any_of(events_.fds(), &OpenedFd::of_user_probe)) {
    const auto measured = measure_trap_cost();
    trap_ = measured.ok() ? measured.value() : trap_;
  }
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
  looks_.pause_ns = kFirstPauseNs;
  (void)take_hits();
  (void)clock_.take();
  if (setup_.enabled_by_exec) {
    set_paces(std::vector<EventPace>(ladders_.size(), EventPace{.rung = kFirstRung}));
    looks_.due_ns = now_ns + looks_.pause_ns;
  } else {
    const auto hits = count_first();
    if (!hits.ok()) {
      return hits.error();
    }
    const CpuTimes times = clock_.take();
    lost_by_own_ = times.lost_by_own;
    set_paces(wanted_paces(hits.value(),
                           setup_.share * kUsedShare * static_cast<double>(times.watched_ns)));
    looks_.due_ns = monotonic_ns() + looks_.pause_ns;
  }
  (void)switches_.take_ns(0);
  note_chosen(true);
  TRY(gates_.start(choices(), setup_.enabled_by_exec));
  (void)take_hits();
  (void)gates_.take_enabled_ns();
  looks_.at_ns = monotonic_ns();
  return kDone;
}

// The hits of one second, by the sparsest period, and in windows only: what counting costs is not
// known yet. The windows lie at another place in each cycle, because programs often wake ten times
// a second. A busy machine makes windows longer, so their length is measured.
Result<Pacer::Hits> Pacer::count_first() {
  const auto is_sparsest = [this](const OpenedFd& opened) {
    return opened.on_ladder &&
           events_.events()[opened.event].request.info.period == kPeriods.back();
  };
  if (ladders_.empty()) {
    return take_hits();
  }
  const std::chrono::nanoseconds window(kCycleNs / kFirstShare);
  const std::uint64_t began_ns = monotonic_ns();
  std::uint64_t enabled_ns = 0;
  for (std::uint64_t i = 0; i < kSecondNs / kCycleNs; ++i) {
    const std::uint64_t before = i * kFirstStep % kFirstShare;
    std::this_thread::sleep_for(window * before);
    const std::uint64_t opened_ns = monotonic_ns();
    TRY(set_enabled_all(events_.fds(), is_sparsest, true));
    std::this_thread::sleep_for(window);
    TRY(set_enabled_all(events_.fds(), is_sparsest, false));
    enabled_ns += monotonic_ns() - opened_ns;
    std::this_thread::sleep_for(window * (kFirstShare - 1 - before));
  }
  const double scale =
      static_cast<double>(monotonic_ns() - began_ns) / static_cast<double>(enabled_ns);
  Hits hits = take_hits();
  for (std::uint64_t& count : hits.of_ladders) {
    count = static_cast<std::uint64_t>(static_cast<double>(count) * scale);
  }
  return hits;
}

// A probe traps at each hit, whatever its period. Where probes cannot be in windows, there is
// nothing left but to refuse them.
Result<> Pacer::try_probes() {
  const auto is_probe = [](const OpenedFd& opened) { return opened.of_user_probe; };
  if (std::ranges::none_of(events_.fds(), is_probe)) {
    return kDone;
  }
  (void)take_hits();
  (void)clock_.take();
  TRY(set_enabled_all(events_.fds(), is_probe, true));
  std::this_thread::sleep_for(std::chrono::nanoseconds(kFirstPauseNs));
  TRY(set_enabled_all(events_.fds(), is_probe, false));
  const Hits hits = take_hits();
  const CpuTimes times = clock_.take();
  const double share = fixed_ns(hits) / std::max(1.0, static_cast<double>(times.watched_ns));
  if (share <= setup_.share) {
    return kDone;
  }
  if (setup_.has_monotonic_clock && ProbeLimit::all_may_have_windows(events_)) {
    probes_.note_exceeded(share);
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

void Pacer::keep_up(std::uint64_t now_ns) {
  if (now_ns >= looks_.due_ns && looks_.pause_ns != 0) {
    look(now_ns);
  }
}

void Pacer::look(std::uint64_t now_ns) {
  looks_.pause_ns = std::min(looks_.pause_ns * 2, kLongestPauseNs);
  looks_.due_ns = now_ns + looks_.pause_ns;
  const CpuTimes times = clock_.take();
  Hits hits = take_hits();
  const double switches_ns = switches_.take_ns(static_cast<double>(times.watched_ns));
  judge(hits, times, switches_ns);
  if (!probes_.has_windows()) {
    probes_.judge(probes_ns(hits), static_cast<double>(times.watched_ns));
  }
  lost_by_own_ = times.lost_by_own;
  // What memtrace does besides its samples.
  const double own_rest =
      std::max(0.0, static_cast<double>(times.own_ns) - samples_of(hits) * kOwnNs);
  const double budget_ns = setup_.share * kUsedShare * static_cast<double>(times.watched_ns) -
                           own_rest * times.lost_by_own - switches_ns;
  const Hits counted = hits;
  const double enabled_share = scale_up(hits, now_ns - std::exchange(looks_.at_ns, now_ns));
  stretch_windows(counted, static_cast<double>(times.watched_ns), enabled_share);
  if (std::ranges::any_of(hits.of_ladders, [](std::uint64_t count) { return count > 0; })) {
    set_paces(step_towards(paces(), wanted_paces(hits, budget_ns)));
    note_chosen(false);
    gates_.change(choices());
  }
}

bool Pacer::weigh(Sample& sample, std::uint64_t time_ns) {
  if (!setup_.has_monotonic_clock || !window_events_.has(sample.event)) {
    return true;
  }
  const std::uint64_t share = spans_.share_at(sample.event, time_ns);
  const auto in_windows = window_events_.find(sample.event, share);
  if (in_windows) {
    sample.event = *in_windows;
    sample.period = events_.events()[sample.event].request.info.period;
  }
  return share != 0;
}

Result<> Pacer::begin_probe_windows(std::vector<OpenedFd>& probes,
                                    std::function<std::vector<std::int32_t>()> tids) {
  TRY(probes_.begin_windows(events_,
                            probes,
                            spans_,
                            {.limit = setup_.share * kUsedByWindows,
                             .recorded_ns = cost_.recorded_ns,
                             .trap_ns = [this](std::uint32_t event) { return trap_ns(event); },
                             .has_known_trap =
                                 [this](std::uint32_t event) {
                                   const OpenedEvent& probe = events_.events()[event];
                                   return is_at_chosen_place(probe) && !is_at_return(probe);
                                 },
                             .tids = std::move(tids),
                             .inherit = setup_.inherit}));
  forget_probes();
  return kDone;
}

void Pacer::forget_probes() {
  probes_.forget_looks();
  counts_.clear();  // other descriptors have their places now
  (void)take_hits();
}

std::vector<WatchedWindow> Pacer::take_windows() {
  std::vector<WatchedWindow> windows = gates_.take_windows();
  std::ranges::copy(probes_.take_windows(), std::back_inserter(windows));
  std::ranges::sort(windows, {}, &WatchedWindow::from_ns);
  return windows;
}

void Pacer::end() {
  gates_.stop();
  looks_.pause_ns = 0;
}

double Pacer::trap_ns(std::uint32_t event) const {
  return is_at_chosen_place(events_.events()[event]) ? trap_.emulated_ns : trap_.stepped_ns;
}

// Of what is recorded whatever the periods.
void Pacer::add_recorded(const OpenedFd& opened, std::uint64_t rise, Hits& hits) const {
  hits.always_recorded += rise;
  if (opened.of_user_probe) {
    hits.of_probes += rise;
    hits.traps_ns += static_cast<double>(rise) * trap_ns(opened.event);
  }
}

Pacer::Hits Pacer::take_hits() {
  const ProbeLimit::Cost in_windows = probes_.take_cost();
  Hits hits{.of_ladders = std::vector<std::uint64_t>(ladders_.size()),
            .always_recorded = in_windows.hits,
            .of_probes = in_windows.hits,
            .traps_ns = in_windows.ns - static_cast<double>(in_windows.hits) * cost_.recorded_ns};
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
      add_recorded(opened, rise, hits);
      continue;
    }
    if (const auto ladder = ladder_of(opened.event); ladder != ladders_.end()) {
      hits.of_ladders[static_cast<std::size_t>(ladder - ladders_.begin())] += rise;
    }
  }
  return hits;
}

// Of what is recorded whatever the periods.
double Pacer::fixed_ns(const Hits& hits) const {
  return static_cast<double>(hits.always_recorded) * whole_cost().recorded_ns + hits.traps_ns;
}

// Of user probes alone.
double Pacer::probes_ns(const Hits& hits) const {
  return static_cast<double>(hits.of_probes) * whole_cost().recorded_ns + hits.traps_ns;
}

HitCost Pacer::whole_cost() const {
  return {.counted_ns = cost_.counted_ns, .recorded_ns = cost_.recorded_ns + kOwnNs * lost_by_own_};
}

double Pacer::samples_of(const Hits& hits) const {
  auto samples = static_cast<double>(hits.always_recorded);
  for (std::size_t i = 0; i < ladders_.size(); ++i) {
    samples += static_cast<double>(hits.of_ladders[i]) /
               static_cast<double>(kPeriods[ladders_[i].now.rung]);
  }
  return samples;
}

void Pacer::judge(const Hits& hits, const CpuTimes& times, double switches_ns) {
  const auto counted = static_cast<double>(
      std::accumulate(hits.of_ladders.begin(), hits.of_ladders.end(), std::uint64_t{0}));
  const double cost_ns = samples_of(hits) * cost_.recorded_ns + counted * cost_.counted_ns +
                         hits.traps_ns + switches_ns +
                         static_cast<double>(times.own_ns) * times.lost_by_own;
  const auto watched_ns = static_cast<double>(times.watched_ns);
  spent_.cost_ns += cost_ns;
  spent_.watched_ns += watched_ns;
  if (watched_ns > kLeastJudgedNs) {
    spent_.largest_share = std::max(spent_.largest_share, cost_ns / watched_ns);
  }
}

double Pacer::Spent::part_of_windows() const {
  return watched_in_windows_ns > 0 ? std::min(kMostOfWindow, in_windows_ns / watched_in_windows_ns)
                                   : 0;
}

// Windows are a random part of the time, and the programs use that part of their CPU time in them.
void Pacer::stretch_windows(const Hits& hits, double watched_ns, double enabled_share) {
  double cost_ns = 0;
  for (std::size_t i = 0; i < ladders_.size(); ++i) {
    const EventPace& pace = ladders_[i].now;
    if (pace.share > 1) {
      cost_ns += static_cast<double>(hits.of_ladders[i]) *
                 (cost_.counted_ns + cost_.recorded_ns / static_cast<double>(kPeriods[pace.rung]));
    }
  }
  if (cost_ns > 0) {
    spent_.in_windows_ns = spent_.in_windows_ns * kOlderPart + cost_ns;
    spent_.watched_in_windows_ns =
        spent_.watched_in_windows_ns * kOlderPart + watched_ns * enabled_share;
    gates_.set_stretch(1 / (1 - spent_.part_of_windows()));
  }
}

// To the hits of the whole interval. Returns the part of it in which windows were open.
double Pacer::scale_up(Hits& hits, std::uint64_t interval_ns) {
  const std::vector<std::uint64_t> enabled_ns = gates_.take_enabled_ns();
  double in_windows = 0;
  for (std::size_t i = 0; i < ladders_.size(); ++i) {
    const double share = static_cast<double>(enabled_ns[i]) /
                         static_cast<double>(std::max<std::uint64_t>(interval_ns, 1));
    if (ladders_[i].now.share > 1) {
      in_windows = share;
    }
    const double scaled = share > 0 ? static_cast<double>(hits.of_ladders[i]) / share : 0;
    hits.of_ladders[i] = static_cast<std::uint64_t>(scaled);
  }
  return in_windows;
}

std::vector<EventPace> Pacer::wanted_paces(const Hits& hits, double budget_ns) const {
  const double left_ns = budget_ns - fixed_ns(hits);
  if (setup_.has_monotonic_clock) {
    return choose_paces(hits.of_ladders, whole_cost(), left_ns);
  }
  std::vector<EventPace> paces;
  for (const std::size_t rung : choose_rungs(hits.of_ladders, whole_cost(), left_ns)) {
    paces.push_back({.rung = rung});
  }
  return paces;
}

std::vector<EventPace> Pacer::paces() const {
  std::vector<EventPace> paces;
  std::ranges::transform(ladders_, std::back_inserter(paces), &Ladder::now);
  return paces;
}

void Pacer::set_paces(const std::vector<EventPace>& paces) {
  for (std::size_t i = 0; i < ladders_.size(); ++i) {
    ladders_[i].now = paces[i];
  }
}

std::vector<EventGates::Choice> Pacer::choices() const {
  std::vector<EventGates::Choice> choices;
  for (const Ladder& ladder : ladders_) {
    choices.push_back({.event = ladder.rungs[ladder.now.rung], .share = ladder.now.share});
  }
  return choices;
}

void Pacer::note_chosen(bool is_first) {
  for (Ladder& ladder : ladders_) {
    const std::uint64_t now = Ladder::weight(ladder.now);
    if (is_first || now < Ladder::weight(ladder.densest)) {
      ladder.densest = ladder.now;
    }
    if (is_first || now > Ladder::weight(ladder.sparsest)) {
      ladder.sparsest = ladder.now;
    }
  }
}

std::vector<std::string> Pacer::notes_of_choices() const {
  std::vector<std::string> sampled;
  std::vector<std::string> in_windows;
  for (const Ladder& ladder : ladders_) {
    const std::uint64_t most = Ladder::weight(ladder.sparsest);
    if (most > 1) {
      sampled.push_back(ladder.name + " " + period_text(Ladder::weight(ladder.densest), most));
    }
    if (ladder.sparsest.share > 1) {
      in_windows.push_back(ladder.name + " " +
                           period_text(ladder.densest.share, ladder.sparsest.share));
    }
  }
  std::vector<std::string> notes;
  if (!sampled.empty()) {
    notes.push_back("to keep the overhead below " + percent_text(setup_.share) +
                    " %, memtrace recorded only some of these events: " + join(sampled, ", "));
  }
  if (!in_windows.empty()) {
    notes.push_back(fmt::format(
        "counting alone would cost too much, so these events were watched in windows only, one "
        "random slot in each {} ms, which is this part of the time: {}; reports multiply their "
        "figures, and the error includes the differences between windows; an open window slowed "
        "busy programs by about {} %, and memtrace corrected for this; figures of programs that "
        "mostly wait may be too high by as much",
        kCycleNs / kNsOfMs,
        join(in_windows, ", "),
        percent_text(spent_.part_of_windows())));
  }
  return notes;
}

std::vector<std::string> Pacer::notes() {
  std::vector<std::string> notes = notes_of_choices();
  if (std::string about = probes_.about_windows(); !about.empty()) {
    notes.push_back(std::move(about));
  }
  const double share = spent_.watched_ns > 0 ? spent_.cost_ns / spent_.watched_ns : 0;
  const std::string largest =
      spent_.largest_share > 0  // else the programs used too little time to judge
          ? fmt::format(", at most {} % in half a second", percent_text(spent_.largest_share))
          : "";
  notes.push_back(
      fmt::format("estimated overhead: {} % of the watched programs' CPU time{} (a hit costs "
                  "{:.0f} ns, with its sample {:.0f} ns)",
                  percent_text(share),
                  largest,
                  cost_.counted_ns,
                  cost_.recorded_ns));
  if (share > setup_.share) {
    notes.push_back(fmt::format(
        "the overhead was not kept below {} %: each hit costs time, also of events that are not "
        "recorded, and so does each context switch of a watched task; record fewer events, or "
        "fewer processes",
        percent_text(setup_.share)));
  }
  return notes;
}

}  // namespace memtrace
