#include "recording/recorder.h"

#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <memory>

#include "base/log.h"
#include "decode/silent_probes.h"
#include "observe/host_facts.h"
#include "os/system.h"
#include "perf/file_out/file_writer.h"
#include "pipeline/pipeline.h"
#include "plan/events/event_narrowing.h"
#include "recording/code_names.h"
#include "recording/status_line.h"
#include "sections/recording_facts.h"
#include "unwind/sample_rewriter.h"

namespace memtrace {
namespace {

std::vector<std::byte> attr_bytes(const perf_event_attr& attr) {
  const auto bytes = std::as_bytes(std::span(&attr, 1)).first(attr.size);
  return {bytes.begin(), bytes.end()};
}

WrittenEvent written_event(const OpenedEvent& event) {
  return {.info = event.request.info,
          .attr = attr_bytes(file_attr(event.attr, event.request)),
          .ids = event.ids};
}

WriterSetup writer_setup(const RecordOptions& options, const LiveSource& source) {
  WriterSetup setup{.header_page = options.selected.header_page,
                    .header_event = options.selected.header_event,
                    .about = read_host_facts(),
                    .clock_id = CLOCK_MONOTONIC,
                    .has_clock = source.monotonic_clock(),
                    .wall_clock_ns = wall_clock_ns(),
                    .trace_clock_ns = monotonic_ns(),
                    .zstd_level = options.zstd_level,
                    .stop_signals = options.live.stop_signals};
  setup.about.command_line = options.command_line;
  for (const OpenedEvent& event : source.events()) {
    setup.events.push_back(written_event(event));
  }
  return setup;
}

class Recorder final : public PipelineSink {
 public:
  Recorder(const RecordOptions& options, LiveSource& source, FileWriter& writer)
      : options_(options),
        source_(source),
        writer_(writer),
        pipeline_(source,
                  {.world = {.stacks = StackUse::Places},
                   .live = true,
                   .whole_machine = options.live.target.kind == TargetKind::System,
                   .probes = &source.events()}),
        own_records_(source.events().front().ids.front(), trailer_shape(source.features())),
        written_events_(source.events().size()) {
    pipeline_.watch_roots(options.live.target.command);
    about_.target = options.target_text;
    about_.whole_machine = options.live.target.kind == TargetKind::System;
    about_.migratetypes = migratetype_names();
    about_.slab_caches = slab_caches();
    about_.cpu_nodes = cpu_nodes();
    about_.filters = options.selected.filters;
    about_.limited = filtered_events(options.selected.requests);
  }

  // Before anything is enabled: processes that run by now may be gone when they are met.
  void identify_processes() {
    pipeline_.identify_processes(source_.target(), source_.monotonic_clock());
  }

  void identify_new_processes() { pipeline_.identify_new_processes(source_.target()); }

  // With the threads that empty the rings.
  void share_rules(SharedRules& log) { pipeline_.unwinder().share_rules(log); }

  Result<> run() { return pipeline_.run(*this); }

  Result<RecordSummary> finish() {
    status_.end();
    const auto is_hurried = hurry_test();
    summary_.own_samples = about_.own_samples = source_.own_samples();
    summary_.command_status = source_.end_command();
    about_.disk_full = writer_.samples_lost();
    about_.vmstat = growth_of(vmstat_, vmstat_counters());
    TRY(write_late_events());
    about_.notes = source_.recording().caveats;
    about_.mapping_reads = source_.recording().mapping_reads;
    about_.started_ns = source_.recording().started_ns;
    about_.stopped_ns = source_.recording().stopped_ns;
    about_.losses = losses_.entries();
    const auto silent = silent_probes_.notes(source_.events());
    const auto taken = pipeline_.taken_events().notes();
    summary_.notes_say_why = source_.came_too_late() || !silent.empty() || !taken.empty();
    for (const auto& notes : {pipeline_.user_stacks().caveats(), silent, taken}) {
      about_.notes.insert(about_.notes.end(), notes.begin(), notes.end());
    }
    add_names(is_hurried);
    pipeline_.observe_end(end_.last_time_ns);
    pipeline_.world().observations().for_each(
        [this](const Observation& observation) { about_.observations.push_back(observation); });
    about_.observations_skipped = pipeline_.world().observations().skipped();
    end_.about_json = to_json(about_);
    end_.identities = pipeline_.identity_log()->text();
    writer_.set_about([about = about_](std::uint64_t samples_lost) mutable {
      about.disk_full = samples_lost;
      return to_json(about);
    });
    TRY(writer_.finish(end_));
    summary_.bytes = writer_.bytes_written();
    summary_.disk_full = writer_.samples_lost();
    summary_.notes = about_.notes;
    return summary_;
  }

 private:
  Result<bool> admit(const Record& record) override {
    const auto* sample = std::get_if<Sample>(&record.payload);
    if (sample != nullptr && sample->event >= written_events_) {
      TRY(write_late_events());
    }
    return true;
  }

  Result<> on_tick() override {
    show_progress();
    if (!written_in_round_) {
      return kDone;
    }
    written_in_round_ = false;
    TRY(writer_.announce_identities(pipeline_.identity_log()->news()));
    return writer_.finish_round();
  }

  void show_progress() {
    const std::uint64_t lost =
        summary_.lost + summary_.dropped + summary_.late + summary_.malformed;
    status_.show(summary_.samples, lost, writer_.bytes_written());
  }

  Result<> on_cut_stacks(const CutStacks& cut) override {
    about_.cut_stacks += cut.count;
    summary_.cut_stacks += cut.count;
    return kDone;
  }

  Result<> on_record(const Record& record) override { return write(record.bytes); }

  Result<> on_sample(const SampleStep& step) override {
    const Record& record = step.record;
    ++summary_.samples;
    silent_probes_.saw(step.sample.event);
    end_.first_time_ns = end_.first_time_ns == 0 ? record.stamp.time_ns : end_.first_time_ns;
    end_.last_time_ns = record.stamp.time_ns;
    // Of an event that was asked for no stacks the bytes are as they should be.
    const auto bytes = step.sample.registers.mask == 0
                           ? record.bytes
                           : rewriter_.rewrite(record.bytes, step.sample, step.callchain);
    return write_sample(bytes, step.sample);
  }

  Result<> write_sample(std::span<const std::byte> bytes, const Sample& sample) {
    const OpenedEvent& event = source_.events()[sample.event];
    if (!event.request.shared) {
      return write(bytes);
    }
    const auto tracepoint = static_cast<std::uint16_t>(event.request.info.config);
    return write(rewriter_.rename(bytes, sample, {event.ids.front(), tracepoint}));
  }

  // Events that were added since the last call.
  Result<> write_late_events() {
    std::vector<WrittenEvent> late;
    for (; written_events_ < source_.events().size(); ++written_events_) {
      late.push_back(written_event(source_.events()[written_events_]));
    }
    return late.empty() ? Result<>(kDone) : writer_.add_events(late);
  }

  // A loss that memtrace noticed itself becomes a record as the kernel would write it.
  Result<> on_loss(const Record& record, const Lost& lost) override {
    count_loss(record, lost);
    if (!record.bytes.empty() && lost.reason == LossReason::Kernel) {
      return write(record.bytes);
    }
    own_records_.clear();
    own_records_.lost(lost.count, record.stamp.time_ns);
    return write(own_records_.bytes());
  }

  void count_loss(const Record& record, const Lost& lost) {
    losses_.add(record, lost);
    switch (lost.reason) {
      case LossReason::Late:
        summary_.late = about_.late += lost.count;
        break;
      case LossReason::Malformed:
        summary_.malformed = about_.malformed += lost.count;
        break;
      case LossReason::Overload:
        summary_.dropped = about_.overload += lost.count;
        break;
      default:
        summary_.lost += lost.count;
    }
  }

  Result<> write(std::span<const std::byte> record) {
    written_in_round_ = true;
    return writer_.write(record);
  }

  // One signal ends the recording; who sends another, or one after its end, does not want to wait.
  std::function<bool()> hurry_test() const {
    StopSignals* signals = options_.live.stop_signals;
    if (signals == nullptr) {
      return [] { return false; };
    }
    const std::size_t to_end = std::min<std::size_t>(signals->asked().count, 1);
    return [signals, to_end] { return signals->asked().count > to_end; };
  }

  void add_names(const std::function<bool()>& is_hurried) {
    CodeNames names =
        code_names(pipeline_.world(), source_.recording(), options_.embed_symbols, is_hurried);
    end_.build_ids = std::move(names.build_ids);
    end_.symbols_json = std::move(names.symbols_json);
    about_.notes.insert(about_.notes.end(), names.notes.begin(), names.notes.end());
  }

  const RecordOptions& options_;
  LiveSource& source_;
  FileWriter& writer_;
  Pipeline pipeline_;
  SilentProbes silent_probes_;
  SampleRewriter rewriter_;
  RecordBuilder own_records_;
  std::size_t written_events_;
  RecordSummary summary_;
  RecordingFacts about_;
  LossLog losses_;
  VmstatCounters vmstat_ = vmstat_counters();  // before the first event
  Recording end_;                              // what is written behind the records
  // A command writes to the same terminal.
  StatusLine status_{options_.live.target.command.empty() && ::isatty(STDERR_FILENO) != 0};
  bool written_in_round_ = false;
};

}  // namespace

Result<RecordSummary> record(RecordOptions options) {
  const auto rules = std::make_shared<SharedRules>();
  options.live.make_rewrite = [rules] { return make_in_ring_unwinder(rules); };
  auto source = LiveSource::open(options.live, options.selected);
  if (!source.ok()) {
    return source.take_error();
  }
  auto writer = create_file_writer(options.output, writer_setup(options, *source.value()));
  if (!writer.ok()) {
    return writer.take_error();
  }
  Recorder recorder(options, *source.value(), *writer.value());
  recorder.identify_processes();
  auto started = source.value()->start();
  if (!started.ok()) {
    writer.value()->abandon();
    return started.take_error();
  }
  recorder.share_rules(*rules);
  recorder.identify_new_processes();
  TRY(recorder.run());
  auto summary = recorder.finish();
  source.value()->wait_until_closed();
  return summary;
}

}  // namespace memtrace
