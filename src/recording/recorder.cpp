#include "recording/recorder.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <string_view>
#include <utility>

#include "base/log.h"
#include "base/thread/slow_step.h"
#include "decode/silent_probes.h"
#include "observe/host_facts.h"
#include "os/system.h"
#include "pipeline/pipeline.h"
#include "plan/events/event_narrowing.h"
#include "recording/carried_state.h"
#include "recording/code_names.h"
#include "recording/recorded_file.h"
#include "recording/recording_files.h"
#include "recording/status_line.h"
#include "sections/recording_facts.h"
#include "unwind/sample_rewriter.h"

namespace memtrace {
namespace {

RecordingFacts facts_of(const RecordOptions& options) {
  return {.target = options.target_text,
          .boot_id = boot_id(),
          .whole_machine = options.live.target.kind == TargetKind::System,
          .migratetypes = migratetype_names(),
          .slab_caches = slab_caches(),
          .cpu_nodes = cpu_nodes(),
          .filters = options.selected.filters,
          .limited = filtered_events(options.selected.requests)};
}

// What ended the look-up of names early.
constexpr std::string_view kBySignal = "a second signal ended";
constexpr std::string_view kByEvents = "new events ended";

class Recorder final : public PipelineSink {
 public:
  // `file`: the first of `files`.
  Recorder(const RecordOptions& options,
           LiveSource& source,
           RecordingFiles& files,
           std::unique_ptr<RecordedFile> file)
      : options_(options),
        source_(source),
        files_(files),
        file_(std::move(file)),
        facts_(file_->about()),
        pipeline_(source,
                  {.world = {.stacks = StackUse::Places,
                             .track_mappings = options.rotation.is_wanted,
                             .page_size_bytes = source.recording().page_size_bytes},
                   .live = true,
                   .whole_machine = facts_.whole_machine,
                   .resident_pages = options.selected.resident_pages,
                   .probes = &source.events()}),
        namer_(options.embed_symbols),
        own_records_(source.events().front().ids.front(), trailer_shape(source.features())) {
    pipeline_.watch_roots(options.live.target.command);
  }

  // A ledger adds up what comes until /proc has been read.
  void read_resident_before_stop() {
    const auto& requests = options_.selected.requests;
    const bool counts = std::ranges::any_of(
        requests, [](const EventRequest& request) { return request.info.name == "kmem:rss_stat"; });
    if (options_.selected.resident_pages && counts) {
      source_.set_before_stop([this] { pipeline_.read_resident(); });
    }
  }

  // Before anything is enabled: processes that run by now may be gone when they are met.
  void identify_processes() {
    pipeline_.identify_processes(source_.target(), source_.monotonic_clock());
  }

  void identify_new_processes() { pipeline_.identify_new_processes(source_.target()); }

  // With the threads that empty the rings.
  void share_rules(SharedRules& log) { pipeline_.unwinder().share_rules(log); }

  Result<> run() { return pipeline_.run(*this); }

  // The machine's counters are those of the time in which there are events.
  void count_with_events() {
    source_.set_around([this] { file_->begin_counting(); }, [this] { file_->end_counting(); });
  }

  // Nothing was recorded.
  void abandon() { file_->writer().abandon(); }

  Result<RecordSummary> finish() {
    status_.end();
    const auto is_hurried = hurry_test();
    summary_.own_samples = source_.own_samples();
    summary_.command_status = source_.end_command();
    file_->end_counting();
    TRY(finish_ended(is_hurried, kBySignal));
    auto notes = silent_probes_.notes(source_.events());
    const auto taken = pipeline_.taken_events().notes();
    notes.insert(notes.end(), taken.begin(), taken.end());
    summary_.notes_say_why = source_.came_too_late() || !notes.empty();
    TRY(complete_file(source_.recording().stopped_ns, notes));
    TRY(finish_file(*file_, is_hurried, kBySignal));
    summary_.notes = file_->about().notes;
    std::erase_if(summary_.notes, [this](const std::string& note) {
      return std::ranges::find(source_.told_notes(), note) != source_.told_notes().end();
    });
    summary_.files = files_.names();
    summary_.removed_files = files_.removed();
    return summary_;
  }

 private:
  static void add_notes(RecordedFile& file, const std::vector<std::string>& notes) {
    auto& all = file.about().notes;
    all.insert(all.end(), notes.begin(), notes.end());
  }

  static void add_notes_of_samples(RecordedFile& file, const std::vector<std::string>& notes) {
    add_notes(file, notes);
    auto& all = file.about().notes_of_samples;
    all.insert(all.end(), notes.begin(), notes.end());
  }

  // All but the names of its code, which take time. `notes`: what is to be said of the whole
  // recording, at its end.
  Result<> complete_file(std::uint64_t stopped_ns, const std::vector<std::string>& notes) {
    TRY(file_->write_late_events(source_.events()));
    RecordingFacts& about = file_->about();
    const Recording& recording = source_.recording();
    about.own_samples =
        source_.own_samples() - std::exchange(told_.own_samples, source_.own_samples());
    auto own_events = source_.own_events();
    about.own_events = counted_since(told_.own_events, own_events);
    told_.own_events = std::move(own_events);
    about.mapping_reads =
        recording.mapping_reads - std::exchange(told_.mapping_reads, recording.mapping_reads);
    about.started_ns = std::max(about.started_ns, recording.started_ns);
    about.stopped_ns = stopped_ns;
    about.windows = source_.take_windows();
    about.windows.resize(std::min(about.windows.size(), kMaxWindows));
    add_notes(*file_, recording.caveats);
    add_notes_of_samples(*file_, pipeline_.user_stacks().caveats());
    add_notes(*file_, notes);
    add_observations();
    file_->end().identities = pipeline_.identity_log()->text();
    return kDone;
  }

  Result<> finish_file(RecordedFile& file,
                       const std::function<bool()>& is_hurried,
                       std::string_view why_hurried) {
    const SlowStep step("looking up names");
    (void)namer_.look_up(pipeline_.world(), source_.recording(), is_hurried);
    CodeNames names = namer_.names();
    file.end().build_ids = std::move(names.build_ids);
    file.end().symbols_json = std::move(names.symbols_json);
    if (names.left_out > 0) {
      add_notes(file,
                {fmt::format("{} the look-up of names: {} addresses have none in the file, and "
                             "only this machine's files can tell them",
                             why_hurried,
                             names.left_out)});
    }
    add_notes_of_samples(file, names.notes);
    TRY(file.finish());
    summary_.bytes += file.writer().bytes_written();
    summary_.disk_full += file.writer().samples_lost();
    return kDone;
  }

  void add_observations() {
    RecordingFacts& about = file_->about();
    pipeline_.observe_end(file_->end().last_time_ns);
    Observations& observations = pipeline_.world().observations();
    observations.for_each(
        [&about](const Observation& observation) { about.observations.push_back(observation); });
    about.observations_skipped = observations.skipped();
    observations.clear();
  }

  Result<bool> admit(const Record& record) override {
    const bool is_tick = std::holds_alternative<Tick>(record.payload);
    if (!is_tick || source_.monotonic_clock()) {
      reached_ns_ = std::max(reached_ns_, record.stamp.time_ns);
    }
    const auto* sample = std::get_if<Sample>(&record.payload);
    if (sample != nullptr && !file_->has_event(sample->event)) {
      TRY(file_->write_late_events(source_.events()));
    }
    return true;
  }

  Result<> on_tick() override {
    show_progress();
    if (file_->take_round()) {
      TRY(file_->writer().announce_identities(pipeline_.identity_log()->news()));
      TRY(file_->writer().finish_round());
    }
    TRY(go_on_with_ended());
    return files_.is_due(*file_) ? turn_over() : Result<>(kDone);
  }

  // The names of a file that has ended are looked up bit by bit: what the rings bring must not wait
  // for them, and memtrace's own page faults are events, too, if the whole machine is recorded.
  Result<> go_on_with_ended() {
    constexpr std::uint64_t kBitNs = 25'000'000;
    const std::uint64_t until_ns = monotonic_ns() + kBitNs;
    const auto is_enough = [this, until_ns] {
      return monotonic_ns() >= until_ns || source_.has_many_waiting();
    };
    const bool is_named =
        ended_ != nullptr && namer_.look_up(pipeline_.world(), source_.recording(), is_enough);
    return is_named ? finish_ended(is_enough, kByEvents) : Result<>(kDone);
  }

  Result<> finish_ended(const std::function<bool()>& is_hurried, std::string_view why_hurried) {
    if (ended_ == nullptr) {
      return kDone;
    }
    const auto file = std::exchange(ended_, nullptr);
    TRY(finish_file(*file, is_hurried, why_hurried));
    files_.finished(*file);
    return kDone;
  }

  // All records up to now are in this file, and all others will be in the next. The kernel's events
  // and rings know nothing of it.
  Result<> turn_over() {
    const auto is_asked_to_hurry = hurry_test(1);
    TRY(finish_ended(
        [this, &is_asked_to_hurry] { return source_.has_many_waiting() || is_asked_to_hurry(); },
        kByEvents));
    file_->end_counting();
    const CarriedState state(new_builder(), pipeline_.world(), files_.kernel(), reached_ns_);
    RecordingFacts about = facts_;
    const std::uint64_t cut_ns = source_.recording().started_ns != 0 ? reached_ns_ : 0;
    about.started_ns = cut_ns;
    auto next = files_.create_next(std::move(about), state, reached_ns_);
    if (!next.ok()) {
      files_.give_up();
      warn("the recording goes on in the same file: " + describe(next.error()));
      return kDone;
    }
    TRY(complete_file(cut_ns, {}));
    pipeline_.identity_log()->begin_file(reached_ns_, pipeline_.world());
    ended_ = std::exchange(file_, next.take());
    return kDone;
  }

  void show_progress() {
    const std::uint64_t lost =
        summary_.lost + summary_.dropped + summary_.late + summary_.malformed;
    status_.show(summary_.samples, lost, file_->writer().bytes_written());
  }

  Result<> on_cut_stacks(const CutStacks& cut) override {
    file_->about().cut_stacks += cut.count;
    summary_.cut_stacks += cut.count;
    return kDone;
  }

  Result<> on_record(const Record& record) override { return file_->write(record.bytes); }

  Result<> on_sample(const SampleStep& step) override {
    const Record& record = step.record;
    ++summary_.samples;
    silent_probes_.saw(step.sample.event);
    file_->saw_sample(record.stamp.time_ns);
    // Of an event that was asked for no stacks the bytes are as they should be.
    const auto bytes = step.sample.registers.mask == 0
                           ? record.bytes
                           : rewriter_.rewrite(record.bytes, step.sample, step.callchain);
    return write_sample(bytes, step.sample);
  }

  Result<> write_sample(std::span<const std::byte> bytes, const Sample& sample) {
    const OpenedEvent& event = source_.events()[sample.event];
    if (!event.request.shared && !event.request.is_of_windows()) {
      return file_->write(bytes);
    }
    const auto tracepoint = static_cast<std::uint16_t>(event.request.info.config);
    return file_->write(rewriter_.rename(bytes, sample, {event.ids.front(), tracepoint}));
  }

  // A loss that memtrace noticed itself becomes a record as the kernel would write it.
  Result<> on_loss(const Record& record, const Lost& lost) override {
    count_loss(record, lost);
    if (!record.bytes.empty() && lost.reason == LossReason::Kernel) {
      return file_->write(record.bytes);
    }
    own_records_.clear();
    own_records_.lost(lost.count, record.stamp.time_ns);
    return file_->write(own_records_.bytes());
  }

  void count_loss(const Record& record, const Lost& lost) {
    file_->count_loss(record, lost);
    switch (lost.reason) {
      case LossReason::Late:
        summary_.late += lost.count;
        break;
      case LossReason::Malformed:
        summary_.malformed += lost.count;
        break;
      case LossReason::Overload:
        summary_.dropped += lost.count;
        break;
      default:
        summary_.lost += lost.count;
    }
  }

  // One signal ends the recording; who sends another, or one after its end, does not want to wait.
  // `least`: this number of signals asks for no hurry.
  std::function<bool()> hurry_test(std::size_t least = 0) const {
    StopSignals* signals = options_.live.stop_signals;
    if (signals == nullptr) {
      return [] { return false; };
    }
    const std::size_t to_end = std::max(least, std::min<std::size_t>(signals->asked().count, 1));
    return [signals, to_end] { return signals->asked().count > to_end; };
  }

  RecordBuilder new_builder() const {
    return RecordBuilder(source_.events().front().ids.front(), trailer_shape(source_.features()));
  }

  // Counted by the source since its start, and written to files that have ended.
  struct Told {
    std::uint64_t own_samples = 0;
    std::map<std::string, std::uint64_t> own_events;
    std::uint64_t mapping_reads = 0;
  };

  const RecordOptions& options_;
  LiveSource& source_;
  RecordingFiles& files_;
  std::unique_ptr<RecordedFile> file_;   // that is being written
  std::unique_ptr<RecordedFile> ended_;  // the one before, as long as it lacks its names
  const RecordingFacts facts_;           // that all files begin with
  Pipeline pipeline_;
  CodeNamer namer_;
  SilentProbes silent_probes_;
  SampleRewriter rewriter_;
  RecordBuilder own_records_;
  RecordSummary summary_;
  // A command writes to the same terminal.
  StatusLine status_{options_.live.target.command.empty() && ::isatty(STDERR_FILENO) != 0};
  Told told_;
  std::uint64_t reached_ns_ = 0;  // all records up to then have been written
};

}  // namespace

Result<RecordSummary> record(RecordOptions options) {
  const auto rules = std::make_shared<SharedRules>();
  options.live.make_rewrite = [rules] { return make_in_ring_unwinder(rules); };
  auto source = LiveSource::open(options.live, options.selected);
  if (!source.ok()) {
    return source.take_error();
  }
  RecordingFiles files(options, *source.value());
  auto file = files.create_first(facts_of(options));
  if (!file.ok()) {
    return file.take_error();
  }
  Recorder recorder(options, *source.value(), files, file.take());
  recorder.identify_processes();
  recorder.count_with_events();
  auto started = source.value()->start();
  if (!started.ok()) {
    recorder.abandon();
    return started.take_error();
  }
  recorder.share_rules(*rules);
  recorder.identify_new_processes();
  recorder.read_resident_before_stop();
  source.value()->announce_ready();
  TRY(recorder.run());
  auto summary = recorder.finish();
  source.value()->wait_until_closed();
  return summary;
}

}  // namespace memtrace
