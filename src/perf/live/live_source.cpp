#include "perf/live/live_source.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>

#include "os/guarded_thread.h"
#include "os/system.h"
#include "os/this_thread.h"
#include "perf/event/ring_size.h"
#include "perf/target/fixed_addresses.h"

namespace memtrace {
namespace {

constexpr std::chrono::milliseconds kWait{20};
constexpr std::chrono::seconds kPatience{2};

Record malformed_record(std::uint64_t time_ns) {
  return {.stamp = {.time_ns = time_ns}, .payload = Lost{1, LossReason::Malformed}};
}

}  // namespace

Result<std::unique_ptr<LiveSource>> LiveSource::open(LiveSetup setup) {
  std::optional<HeldCommand> command;
  if (!setup.target.command.empty()) {
    auto spawned = HeldCommand::spawn(setup.target,
                                      addresses_for(setup.target, setup.events, setup.call_graph));
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
  auto events =
      EventSet::open({.events = setup.events,
                      .call_graph = setup.call_graph,
                      .tids = tids.value(),
                      .inherit = setup.target.kind == TargetKind::Processes || watches_command,
                      .enable_on_exec = watches_command,
                      .data_mappings = setup.data_mappings,
                      .ring_bytes = setup.ring_bytes,
                      .notes = setup.notes});
  if (!events.ok()) {
    return events.take_error();
  }
  return std::unique_ptr<LiveSource>(
      new LiveSource(std::move(setup), events.take(), tids.take(), std::move(command)));
}

LiveSource::LiveSource(LiveSetup setup,
                       EventSet events,
                       std::vector<std::int32_t> tids,
                       std::optional<HeldCommand> command)
    : setup_(std::move(setup)),
      events_(std::move(events)),
      command_(std::move(command)),
      mender_(events_.events()),
      queue_(queue_limit_bytes()),
      merge_(events_.rings().size(), parser_, queue_),
      tids_(std::move(tids)),
      snapshot_(events_.events().front().ids.front(), trailer_shape(events_.features())),
      mapping_recovery_(setup_.target.kind == TargetKind::System, kept_maps()),
      newest_by_ring_ns_(events_.rings().size()) {
  RecordParser parser;
  for (const OpenedEvent& event : events_.events()) {
    recording_.events.push_back(event.request.info);
  }
  add_to_parser(events_.events(), parser);
  parser_.publish(std::move(parser));
  recording_.page_size_bytes = static_cast<std::uint32_t>(page_size_bytes());
  recording_.tells_exec = events_.features().comm_exec;
  recording_.caveats = events_.notes();
}

LiveSource::~LiveSource() {
  late_.reset();
  readers_.clear();
  if (command_ && !ended_command_ && !command_->is_held()) {
    // Recording has failed: nobody waits for the command any more, and nobody else would end it.
    (void)end_command();
    command_->terminate(SIGKILL);
  }
  end_events();
  closer_.wait();
}

Result<> LiveSource::start() {
  const bool enabled_by_exec = setup_.target.kind == TargetKind::Command;
  const HurriedThread hurried;
  if (!enabled_by_exec) {
    TRY(events_.enable_tracking());
  }
  take_snapshot();
  start_readers();
  start_added_events();
  TRY(events_.enable_events(enabled_by_exec));
  // What came before, while the events were enabled one after the other, is of some of them only.
  const std::uint64_t started_ns = monotonic_ns();
  recording_.started_ns = monotonic_clock() ? started_ns : 0;
  for (const auto& reader : readers_) {
    reader->note_start(recording_.started_ns);
  }
  came_too_late_ = target_is_gone();
  if (came_too_late_) {
    recording_.caveats.emplace_back(
        "the target had ended before all events were open: little or nothing of it was recorded; "
        "start it with memtrace (-- COMMAND), or watch the whole machine (-a)");
  }
  if (command_) {
    TRY(command_->release());
  }
  if (setup_.duration_ns != 0) {
    deadline_ns_ = started_ns + setup_.duration_ns;
  }
  if (setup_.ready != nullptr) {
    setup_.ready->tell();
  }
  return kDone;
}

void LiveSource::start_readers() {
  for (std::size_t i = 0; i < events_.rings().size(); ++i) {
    RingReader::Source source{&events_.rings()[i], events_.ring_fds()[i]};
    source.stream = static_cast<std::uint32_t>(i);
    source.cpu = static_cast<std::uint32_t>(events_.ring_cpus()[i]);
    source.monotonic_clock = monotonic_clock();
    source.is_prompt = setup_.is_prompt;
    source.mender = &mender_;
    source.shrink = setup_.make_rewrite ? setup_.make_rewrite() : nullptr;
    readers_.push_back(std::make_unique<RingReader>(std::move(source), parser_, queue_));
  }
}

Result<std::optional<Record>> LiveSource::next() {
  while (true) {
    using Step = std::optional<Record> (LiveSource::*)();
    for (const Step step : {&LiveSource::next_snapshot_record,
                            &LiveSource::next_loss,
                            &LiveSource::next_merged_record,
                            &LiveSource::next_own_record}) {
      if (auto record = (this->*step)()) {
        return record;
      }
    }
    if (drained_) {
      return std::optional<Record>();
    }
    collect();
  }
}

// Between the records of its time, so that intervals count what was lost in them.
std::optional<Record> LiveSource::next_loss() {
  if (losses_.empty()) {
    return std::nullopt;
  }
  const std::uint64_t time_ns = losses_.front().stamp.time_ns;
  const auto next_ns = merge_.next_time_ns();
  const bool is_due =
      next_ns ? time_ns <= *next_ns : drained_ || time_ns <= merge_.complete_to_ns();
  if (!is_due) {
    return std::nullopt;
  }
  const Record record = losses_.front();
  losses_.pop_front();
  return record;
}

// Events are enabled one after the other: what comes in between is from some of them only, and no
// report counts it. The calls that change mappings are kept, for what they do to what was read from
// /proc.
bool LiveSource::is_before_start(const Record& record) const {
  const auto* sample = std::get_if<Sample>(&record.payload);
  return sample != nullptr && record.stamp.time_ns < recording_.started_ns &&
         !events_.events()[sample->event].request.with_tracking;
}

// Events are disabled one after the other: what comes in between is from some of them only.
bool LiveSource::is_after_end(const Record& record) const {
  const std::uint64_t end_ns = recording_.stopped_ns != 0 ? recording_.stopped_ns : deadline_ns_;
  return monotonic_clock() && end_ns != 0 && record.stamp.time_ns > end_ns &&
         std::holds_alternative<Sample>(record.payload);
}

std::optional<Record> LiveSource::next_merged_record() {
  while (const auto entry = merge_.next()) {
    auto parsed = parser_.current().parse(entry->bytes());
    if (!parsed.ok()) {
      return malformed_record(entry->time_ns);
    }
    Record& record = parsed.value();
    record.stamp.stream = entry->chunk->stream;
    record.stamp.sequence = entry->sequence;
    last_time_ns_ = std::max(last_time_ns_, record.stamp.time_ns);
    look_for_end();
    note_span(record);
    note_seen(record);
    if (const auto* sample = std::get_if<Sample>(&record.payload);
        sample != nullptr && sample->event >= recording_.events.size()) {
      adopt_added_events();
    }
    if (!is_before_start(record) && !is_after_end(record) && !is_own(record)) {
      return parsed.take();
    }
  }
  return std::nullopt;
}

// What has been collected may take a while to be given out, and events that nobody wants any more
// cost the watched program time.
void LiveSource::look_for_end() {
  constexpr std::uint32_t kRecordsBetween = 1024;
  if (++given_since_look_ >= kRecordsBetween) {
    given_since_look_ = 0;
    if (should_stop()) {
      end_events();
    }
  }
}

std::optional<Record> LiveSource::next_own_record() {
  if (own_records_.empty()) {
    return std::nullopt;
  }
  const Record record = own_records_.front();
  own_records_.pop_front();
  return record;
}

// Waits for chunks, and sorts what may be given out.
void LiveSource::collect() {
  if (should_stop()) {
    shut_down();
  }
  adopt_added_events();
  read_lost_mappings(last_time_ns_);
  for (ChunkPtr& chunk : queue_.take_all(drained_ ? std::chrono::milliseconds(0) : kWait)) {
    merge_.add(std::move(chunk));
  }
  merge_.release(drained_);
  note_losses();
  if (drained_) {
    note_tail_loss();
  } else {
    own_records_.push_back({.stamp = {.time_ns = tick_time_ns()}, .payload = Tick{}});
  }
}

// Before attr.use_clockid (Linux 4.1) no call reads the clock of the records. The records show it,
// and between them it advances like any other clock; until the first one both count from the start
// of the machine.
std::uint64_t LiveSource::tick_time_ns() {
  const std::uint64_t complete_ns = merge_.complete_to_ns();
  if (monotonic_clock()) {
    return complete_ns;
  }
  const std::uint64_t now_ns = monotonic_ns();
  if (complete_ns > clock_sample_.record_ns) {
    clock_sample_ = {.record_ns = complete_ns, .at_ns = now_ns};
  }
  return clock_sample_.record_ns + (now_ns - clock_sample_.at_ns);
}

bool LiveSource::should_stop() {
  if (command_ && !command_status_) {
    command_status_ = command_->poll_exit();
  }
  if (const auto signal = setup_.stop_signals ? setup_.stop_signals->poll() : std::nullopt) {
    stop(signal->from_terminal ? 0 : signal->number);
  }
  if (!drained_ && deadline_ns_ != 0 && monotonic_ns() >= deadline_ns_) {
    stop(SIGTERM);  // the command too, as perf record does
  }
  return !drained_ && (stop_asked_ || command_status_ || target_is_gone() || has_failed_thread());
}

bool LiveSource::target_is_gone() const {
  return setup_.target.kind != TargetKind::System && setup_.target.kind != TargetKind::Command &&
         all_ended(setup_.target.ids);
}

bool LiveSource::is_own(const Record& record) {
  static const auto own_pid = static_cast<std::uint32_t>(::getpid());
  const auto* sample = std::get_if<Sample>(&record.payload);
  if (setup_.target.kind != TargetKind::System || sample == nullptr || sample->pid != own_pid ||
      recording_.events[sample->event].is_of_anybody) {
    return false;
  }
  ++own_samples_;
  return true;
}

void LiveSource::stop(int signal) {
  if (command_ && !command_status_ && signal != 0) {
    command_->terminate(signal);
  }
  stop_asked_ = true;
}

std::optional<int> LiveSource::end_command() {
  ended_command_ = true;
  if (!command_ || command_status_) {
    return command_status_;
  }
  command_->terminate(SIGTERM);
  command_status_ = command_->wait_exit(kPatience);
  // That it died of our signal says nothing about it; that it caught it and chose a status does.
  const bool by_us = command_status_ && WIFSIGNALED(*command_status_);
  return by_us ? std::nullopt : command_status_;
}

void LiveSource::end_events() {
  if (ended_events_) {
    return;
  }
  ended_events_ = true;
  if (late_) {
    late_->stop();
    adopt_added_events();
  }
  const HurriedThread hurried;
  const std::uint64_t now_ns = monotonic_ns();
  recording_.stopped_ns = !monotonic_clock()  ? 0
                          : deadline_ns_ != 0 ? std::min(now_ns, deadline_ns_)
                                              : now_ns;
  for (const auto& reader : readers_) {
    reader->note_stop(recording_.stopped_ns);
  }
  events_.disable();
  closer_.start(events_.take_closable());
}

void LiveSource::shut_down() {
  end_events();
  for (const auto& reader : readers_) {
    reader->stop();
  }
  drained_ = true;
}

}  // namespace memtrace
