#include "perf/live/live_source.h"

#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <numeric>

#include "base/log.h"
#include "os/system.h"
#include "os/this_thread.h"
#include "perf/pace/ladder.h"
#include "perf/target/fixed_addresses.h"

namespace memtrace {
namespace {

Record malformed_record(std::uint64_t time_ns) {
  return {.stamp = {.time_ns = time_ns}, .payload = Lost{1, LossReason::Malformed}};
}

KeptMaps kept_maps(const WantedEvents& wanted) {
  return wanted.data_mappings ? KeptMaps::All : KeptMaps::Executable;
}

RecordBuilder builder_for(const EventSet& events) {
  return RecordBuilder(events.events().front().ids.front(), trailer_shape(events.features()));
}

}  // namespace

Result<std::unique_ptr<LiveSource>> LiveSource::open(LiveSetup setup, const WantedEvents& wanted) {
  std::optional<HeldCommand> command;
  if (!setup.target.command.empty()) {
    auto spawned = HeldCommand::spawn(
        setup.target, addresses_for(setup.target, wanted.requests, setup.call_graph));
    if (!spawned.ok()) {
      return spawned.take_error();
    }
    command.emplace(spawned.take());
  }
  const bool watches_command = setup.target.kind == TargetKind::Command;
  if (watches_command) {
    setup.target.ids = {static_cast<std::uint32_t>(command->pid())};
  }
  auto tids = tasks_of(setup.target);
  if (!tids.ok()) {
    return tids.take_error();
  }
  const HurriedThread hurried;
  auto events = EventSet::open(
      {.events = setup.max_overhead > 0 ? with_all_periods(wanted.requests) : wanted.requests,
       .attrs = {.call_graph = setup.call_graph,
                 .inherit = setup.target.kind == TargetKind::Processes || watches_command,
                 .enable_on_exec = watches_command,
                 .data_mappings = wanted.data_mappings},
       .tids = tids.value(),
       .ring_bytes = setup.ring_bytes,
       .notes = wanted.notes});
  if (!events.ok()) {
    return events.take_error();
  }
  return std::unique_ptr<LiveSource>(
      new LiveSource(std::move(setup), wanted, events.take(), tids.take(), std::move(command)));
}

LiveSource::LiveSource(LiveSetup setup,
                       const WantedEvents& wanted,
                       EventSet events,
                       std::vector<std::int32_t> tids,
                       std::optional<HeldCommand> command)
    : setup_(std::move(setup)),
      events_(std::move(events)),
      end_(setup_.target, std::move(command), setup_.stop_signals),
      rings_(events_,
             {.is_prompt = wanted.is_prompt,
              .somebody_waits = setup_.somebody_waits,
              .is_patient = setup_.is_patient,
              .make_rewrite = setup_.make_rewrite,
              .queue_bytes = setup_.queue_bytes}),
      snapshot_(builder_for(events_), setup_.target, kept_maps(wanted)),
      losses_(events_.rings().size(), monotonic_clock()),
      counts_(setup_.count_interval_ns),
      tids_(std::move(tids)),
      closer_(wanted.remove_probes) {
  if (wanted.choose_added) {
    added_ = std::make_unique<AddedEventSource>(events_, rings_.parser(), wanted.choose_added);
  }
  for (const OpenedEvent& event : events_.events()) {
    recording_.events.push_back(event.request.info);
  }
  recording_.page_size_bytes = static_cast<std::uint32_t>(page_size_bytes());
  recording_.tells_exec = events_.features().comm_exec;
  recording_.caveats = events_.notes();
}

LiveSource::~LiveSource() {
  added_.reset();
  rings_.abandon();
  // Recording has failed if it still runs: nobody waits for the command any more.
  end_.give_up();
  setup_.before_stop = nullptr;
  setup_.after_stop = nullptr;
  end_events();
  closer_.wait();
}

Result<> LiveSource::start() {
  const bool enabled_by_exec = setup_.target.kind == TargetKind::Command;
  const HurriedThread hurried;
  if (!enabled_by_exec) {
    TRY(events_.enable_tracking());
  }
  snapshot_.take();
  rings_.start();
  start_added_events();
  TRY(start_pace(enabled_by_exec));
  if (setup_.before_start) {
    setup_.before_start();
  }
  TRY(events_.enable_events(enabled_by_exec));
  // What came before, while the events were enabled one after the other, is of some of them only.
  const std::uint64_t started_ns = monotonic_ns();
  if (monotonic_clock()) {
    recording_.started_ns = started_ns;
    recording_.clock = {.record_ns = monotonic_ns(), .wall_ns = wall_clock_ns()};
  }
  rings_.note_start(recording_.started_ns);
  came_too_late_ = end_.is_gone();
  if (came_too_late_) {
    recording_.caveats.emplace_back(
        "the target had ended before all events were open: little or nothing of it was recorded; "
        "start it with memtrace (-- COMMAND), or watch the whole machine (-a)");
  }
  TRY(end_.release());
  if (setup_.duration_ns != 0) {
    end_.set_deadline(started_ns + setup_.duration_ns);
  }
  return kDone;
}

void LiveSource::announce_ready() const {
  if (setup_.ready != nullptr) {
    setup_.ready->tell();
  }
}

Result<> LiveSource::start_pace(bool enabled_by_exec) {
  if (setup_.max_overhead <= 0) {
    return kDone;
  }
  pacer_ = std::make_unique<Pacer>(
      events_,
      PaceSetup{.share = setup_.max_overhead,
                .tids = tids_,
                .inherit = enabled_by_exec || setup_.target.kind == TargetKind::Processes,
                .enabled_by_exec = enabled_by_exec,
                .has_monotonic_clock = monotonic_clock()});
  if (!enabled_by_exec) {
    TRY(pacer_->try_probes());
    if (pacer_->probes().is_exceeded()) {
      limit_probes();
    }
  }
  return pacer_->start(monotonic_ns());
}

void LiveSource::keep_pace() {
  if (!pacer_) {
    return;
  }
  pacer_->keep_up(monotonic_ns());
  if (const std::string news = pacer_->take_news(); !news.empty()) {
    tell(news);
  }
  note_gaps();
  if (pacer_->probes().is_exceeded() && !closer_.has_started()) {
    limit_probes();
  }
}

// A gap: from now on nobody sees what is freed of the blocks allocated before.
void LiveSource::limit_probes() {
  if (pacer_->probes().has_windows()) {
    tell(pacer_->probes().why_removed(since_start_ns()));
    closer_.close_early(pacer_->probes().end_windows());
    return;
  }
  if (added_) {
    added_->stop();
    adopt_added_events();
  }
  const bool may_have_windows = monotonic_clock() && ProbeLimit::all_may_have_windows(events_);
  std::vector<OpenedFd> probes = events_.take_probes();
  if (may_have_windows) {
    RecordParser parser = rings_.parser().current();
    parser.set_passing_ids(pacer_->probes().ids());
    rings_.parser().publish(std::move(parser));
  }
  if (may_have_windows &&
      pacer_->begin_probe_windows(probes, [this] { return family_tasks_of(setup_.target); }).ok()) {
    tell(pacer_->probes().why_in_windows(since_start_ns()));
    return;
  }
  losses_.note_gap(monotonic_clock() ? monotonic_ns() : losses_.last_time_ns());
  tell(pacer_->probes().why_removed(since_start_ns()));
  closer_.close_early(std::move(probes));
  pacer_->forget_probes();
}

void LiveSource::note_gaps() {
  for (const std::uint64_t gap_ns : pacer_->probes().take_gaps()) {
    losses_.note_gap(gap_ns);
  }
}

// 0: not known.
std::uint64_t LiveSource::since_start_ns() const {
  return recording_.started_ns == 0 ? 0 : monotonic_ns() - recording_.started_ns;
}

void LiveSource::tell(const std::string& note) {
  warn(note);
  told_.notes.push_back(note);
  recording_.caveats.push_back(note);
}

void LiveSource::start_added_events() {
  if (!added_) {
    return;
  }
  const bool by_command = setup_.target.kind == TargetKind::Command;
  added_->start({.tids = tids_,
                 .inherit = by_command || setup_.target.kind == TargetKind::Processes,
                 .enable_on_exec = by_command,
                 .features = events_.features()},
                snapshot_.mappings(rings_.parser().current()));
}

void LiveSource::adopt_added_events() {
  if (!added_ || !added_->has_news()) {
    return;
  }
  AddedEventSource::Taken taken = added_->take();
  for (AddedEvents& added : taken.events) {
    for (const OpenedEvent& event : added.events) {
      recording_.events.push_back(event.request.info);
    }
    events_.adopt(std::move(added));
  }
  recording_.caveats.insert(recording_.caveats.end(), taken.notes.begin(), taken.notes.end());
}

Result<std::optional<Record>> LiveSource::next() {
  while (true) {
    // What /proc said comes before all that is in the rings, a loss between records of its time.
    if (auto record = snapshot_.next(rings_.parser().current())) {
      return record;
    }
    if (auto record = losses_.next_loss(rings_.merge(), rings_.is_drained())) {
      return record;
    }
    if (auto record = next_merged_record()) {
      return record;
    }
    if (auto record = losses_.next_own()) {
      return record;
    }
    if (rings_.is_drained()) {
      return std::optional<Record>();
    }
    collect();
  }
}

std::optional<Record> LiveSource::next_merged_record() {
  while (const auto entry = rings_.merge().next()) {
    rings_.keep_up();
    auto parsed = rings_.parser().current().parse(entry->bytes());
    if (!parsed.ok()) {
      return malformed_record(entry->time_ns);
    }
    Record& record = parsed.value();
    record.stamp.stream = entry->chunk->stream;
    record.stamp.sequence = entry->sequence;
    losses_.see(record);
    // What has been collected may take a while to be given out, and events that nobody wants any
    // more cost the watched program time.
    if (end_.has_come_by_now()) {
      end_events();
    }
    note_seen(record);
    if (weigh(record) && wants(record)) {
      return parsed.take();
    }
  }
  return std::nullopt;
}

void LiveSource::note_seen(const Record& record) {
  snapshot_.see(record);
  if (std::holds_alternative<Lost>(record.payload)) {
    read_lost_mappings(record.stamp.time_ns);
  }
  if (std::holds_alternative<Fork>(record.payload)) {
    note_unfollowed();
  }
}

// A thread or a child has started, where some were named.
void LiveSource::note_unfollowed() {
  const bool is_unfollowed = setup_.target.kind != TargetKind::System &&
                             std::ranges::any_of(events_.events(), [](const OpenedEvent& event) {
                               return is_of_uprobe_pmu(event.request);
                             });
  if (is_unfollowed && !told_.unfollowed) {
    told_.unfollowed = true;
    recording_.caveats.emplace_back(
        "threads and children that started while recording were not watched by the user probes: "
        "tracefs could not be used, and the kernel's uprobe PMU does not follow them; "
        "--yes-all-processes watches those of the whole machine");
  }
}

void LiveSource::read_lost_mappings(std::uint64_t time_ns) {
  recording_.mapping_reads += snapshot_.read_lost(time_ns) ? 1U : 0U;
}

// False: its event was not enabled on all CPUs at that time.
bool LiveSource::weigh(Record& record) {
  auto* sample = std::get_if<Sample>(&record.payload);
  return sample == nullptr || !pacer_ || pacer_->weigh(*sample, record.stamp.time_ns);
}

bool LiveSource::wants(const Record& record) {
  const auto* sample = std::get_if<Sample>(&record.payload);
  if (sample == nullptr) {
    return true;
  }
  if (sample->event >= recording_.events.size()) {
    adopt_added_events();
  }
  const std::uint64_t time_ns = record.stamp.time_ns;
  return !is_before_start(time_ns, *sample) && !is_after_end(time_ns) && !is_own(*sample);
}

// Events are enabled one after the other: what comes in between is from some of them only, and no
// report counts it. The calls that change mappings are kept, for what they do to what was read from
// /proc.
bool LiveSource::is_before_start(std::uint64_t time_ns, const Sample& sample) const {
  return time_ns < recording_.started_ns && !events_.events()[sample.event].request.with_tracking;
}

// Events are disabled one after the other: what comes in between is from some of them only.
bool LiveSource::is_after_end(std::uint64_t time_ns) const {
  const std::uint64_t end_ns =
      recording_.stopped_ns != 0 ? recording_.stopped_ns : end_.deadline_ns();
  return monotonic_clock() && end_ns != 0 && time_ns > end_ns;
}

bool LiveSource::is_own(const Sample& sample) {
  static const auto own_pid = static_cast<std::uint32_t>(::getpid());
  if (setup_.target.kind != TargetKind::System || sample.pid != own_pid ||
      recording_.events[sample.event].is_of_anybody) {
    return false;
  }
  own_samples_.resize(std::max(own_samples_.size(), recording_.events.size()));
  ++own_samples_[sample.event];
  return true;
}

std::uint64_t LiveSource::own_samples() const {
  return std::accumulate(own_samples_.begin(), own_samples_.end(), std::uint64_t{0});
}

std::map<std::string, std::uint64_t> LiveSource::own_events() const {
  std::map<std::string, std::uint64_t> events;
  for (std::size_t i = 0; i < recording_.events.size(); ++i) {
    events[recording_.events[i].name] += i < own_samples_.size() ? own_samples_[i] : 0;
  }
  return events;
}

// Waits for chunks, and sorts what may be given out.
void LiveSource::collect() {
  if (end_.has_come()) {
    end_events();
    rings_.drain();
    end_.note_over();
  }
  adopt_added_events();
  keep_pace();
  read_lost_mappings(losses_.last_time_ns());
  rings_.collect();
  const RingMerge& merge = rings_.merge();
  losses_.add(rings_.merge().take_losses());
  if (rings_.is_drained()) {
    const std::uint64_t lost = events_.lost() + (pacer_ ? pacer_->probes().lost() : 0);
    losses_.add_tail(lost, merge, rings_.parser().current(), recording_.started_ns);
  } else {
    const std::uint64_t now_ns = losses_.add_tick(merge.complete_to_ns(), monotonic_ns());
    if (const auto ended_ns = counts_.take_due(now_ns, recording_.started_ns)) {
      read_counts(*ended_ns);
    }
  }
}

void LiveSource::read_counts(std::uint64_t time_ns) {
  for (const EventCounts::Rise& rise : counts_.read(events_.fds())) {
    losses_.add_count(time_ns, rise);
  }
}

void LiveSource::end_events() {
  if (closer_.has_started()) {
    return;
  }
  if (added_) {
    added_->stop();
    adopt_added_events();
  }
  std::vector<OpenedFd> holders;
  if (pacer_) {
    pacer_->end();
    holders = pacer_->probes().end_windows();
    note_gaps();
    std::ranges::copy(pacer_->notes(), std::back_inserter(recording_.caveats));
  }
  if (setup_.before_stop) {
    setup_.before_stop();
  }
  const HurriedThread hurried;
  const std::uint64_t now_ns = monotonic_ns();
  const std::uint64_t deadline_ns = setup_.before_stop ? 0 : end_.deadline_ns();
  recording_.stopped_ns = !monotonic_clock() ? 0
                          : deadline_ns != 0 ? std::min(now_ns, deadline_ns)
                                             : now_ns;
  rings_.note_stop(recording_.stopped_ns);
  events_.disable();
  if (setup_.after_stop) {
    setup_.after_stop();
  }
  read_counts(recording_.stopped_ns != 0 ? recording_.stopped_ns : losses_.last_time_ns());
  std::vector<OpenedFd> closable = events_.take_closable();
  std::ranges::move(holders, std::back_inserter(closable));
  closer_.start(std::move(closable));
}

}  // namespace memtrace
