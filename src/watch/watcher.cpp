#include "watch/watcher.h"

#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "base/log.h"
#include "base/units.h"
#include "observe/host_facts.h"
#include "os/own/heap_reserve.h"
#include "os/own/own_protection.h"
#include "os/system.h"
#include "perf/target/proc_snapshot.h"
#include "pipeline/pipeline.h"
#include "plan/events/event_narrowing.h"
#include "recording/carried_state.h"
#include "recording/code_names.h"
#include "recording/recorded_file.h"
#include "unwind/sample_rewriter.h"
#include "watch/capture.h"
#include "watch/capture_files.h"
#include "watch/machine_levels.h"
#include "watch/pending_capture.h"
#include "watch/ring_writer.h"
#include "watch/segment_ring.h"
#include "watch/trigger_watch.h"

namespace memtrace {
namespace {

constexpr std::uint64_t kSecondNs = 1'000'000'000;
constexpr std::uint64_t kSegments = 6;  // that --before is made of

RecordingFacts facts_of(const WatchOptions& options) {
  return {.target = options.target_text,
          .boot_id = boot_id(),
          .whole_machine = options.live.target.kind == TargetKind::System,
          .migratetypes = migratetype_names(),
          .slab_caches = slab_caches(),
          .cpu_nodes = cpu_nodes(),
          .filters = options.selected.filters,
          .limited = filtered_events(options.selected.requests)};
}

class Watcher final : public PipelineSink {
 public:
  Watcher(const WatchOptions& options, LiveSource& source, SegmentRing& ring, CaptureFiles& files)
      : options_(options),
        source_(source),
        files_(files),
        facts_(facts_of(options)),
        kernel_(kernel_mapping()),
        pipeline_(source,
                  {.world = {.stacks = StackUse::Places,
                             .track_mappings = true,
                             .page_size_bytes = source.recording().page_size_bytes},
                   .live = true,
                   .whole_machine = facts_.whole_machine,
                   .probes = &source.events()}),
        triggers_(options.triggers, options.before_ns, options.after_ns),
        pending_(options.after_ns),
        records_(ring) {}

  void identify_processes() {
    pipeline_.identify_processes(source_.target(), source_.monotonic_clock());
  }

  void identify_new_processes() { pipeline_.identify_new_processes(source_.target()); }

  void share_rules(SharedRules& log) { pipeline_.unwinder().share_rules(log); }

  // The first segment, before the first record.
  void begin() {
    namer_.read_kernel(pipeline_.world(), source_.recording());
    begin_segment(monotonic_ns());
  }

  Result<> run() { return pipeline_.run(*this); }

  // Until the end, or until memtrace has to begin anew.
  bool is_too_large() const { return now_.is_too_large; }

  // What a trigger has asked for by now.
  void finish() {
    if (pending_.is_waiting()) {
      write_file();
    }
  }

  std::uint64_t written() const { return now_.files; }

 private:
  Result<bool> admit(const Record& record) override {
    const bool is_tick = std::holds_alternative<Tick>(record.payload);
    if (!is_tick || source_.monotonic_clock()) {
      reached_ns_ = std::max(reached_ns_, record.stamp.time_ns);
    }
    return true;
  }

  Result<> on_sample(const SampleStep& step) override {
    SegmentFacts& facts = ring().facts();
    facts.first_sample_ns =
        facts.first_sample_ns == 0 ? step.record.stamp.time_ns : facts.first_sample_ns;
    facts.last_sample_ns = step.record.stamp.time_ns;
    records_.write(step.sample.registers.mask == 0
                       ? step.record.bytes
                       : rewriter_.rewrite(step.record.bytes, step.sample, step.callchain));
    if (step.event != nullptr) {
      triggers_.on(*step.event, pipeline_.world(), now_.ns);
    }
    return kDone;
  }

  Result<> on_record(const Record& record) override {
    records_.write(record.bytes);
    return kDone;
  }

  Result<> on_loss(const Record& record, const Lost& lost) override {
    SegmentFacts& facts = ring().facts();
    facts.losses.add(record, lost);
    facts.late += lost.reason == LossReason::Late ? lost.count : 0;
    facts.malformed += lost.reason == LossReason::Malformed ? lost.count : 0;
    facts.overload += lost.reason == LossReason::Overload ? lost.count : 0;
    if (!record.bytes.empty() && lost.reason == LossReason::Kernel) {
      records_.write(record.bytes);
      return kDone;
    }
    RecordBuilder own = new_builder();
    own.lost(lost.count, record.stamp.time_ns);
    records_.write(own.bytes());
    return kDone;
  }

  Result<> on_cut_stacks(const CutStacks& cut) override {
    ring().facts().cut_stacks += cut.count;
    return kDone;
  }

  Result<> on_tick() override {
    now_.ns = monotonic_ns();
    if (now_.ns - now_.compared_ns >= kSecondNs) {
      compare_levels();
    }
    take_requests();
    look_up_names();
    if (pending_.is_due(now_.ns)) {
      write_file();
    }
    if (is_segment_over()) {
      end_segment();
      begin_segment(now_.ns);
      now_.is_too_large = own_anonymous_bytes() > options_.most_bytes;
    }
    if (now_.is_too_large && !pending_.is_waiting()) {
      source_.stop(0);
    }
    return kDone;
  }

  void compare_levels() {
    now_.compared_ns = now_.ns;
    if (triggers_.wants_levels()) {
      triggers_.compare(read_levels(), reached_ns_, now_.ns);
    }
    if (triggers_.wants_sizes()) {
      triggers_.compare_sizes(pipeline_.world(), reached_ns_, now_.ns);
    }
  }

  void take_requests() {
    for (Firing& firing : triggers_.take()) {
      fire(std::move(firing));
    }
    StopSignals* signals = options_.live.stop_signals;
    if (signals != nullptr && signals->take_user_request()) {
      fire({.fired = {"SIGUSR2", reached_ns_, "a file was asked for by a signal"},
            .label = "asked",
            .killed = {}});
    }
  }

  void fire(Firing firing) {
    if (const std::string pressure = pressure_words(); !pressure.empty()) {
      firing.fired.text += "; " + pressure;
    }
    inform(firing.fired.word + ": " + firing.fired.text);
    const std::vector<ResidentSize> sizes =
        pending_.is_waiting() ? std::vector<ResidentSize>() : resident_sizes();
    pending_.fire(std::move(firing), sizes, now_.ns);
  }

  // Bit by bit, and before they are asked for: a victim's files may be gone with it.
  void look_up_names() {
    constexpr std::uint64_t kBitNs = 25'000'000;
    if (!now_.is_naming) {
      return;
    }
    const std::uint64_t until_ns = monotonic_ns() + kBitNs;
    now_.is_naming = !namer_.look_up(pipeline_.world(), source_.recording(), [this, until_ns] {
      return monotonic_ns() >= until_ns || source_.has_many_waiting();
    });
  }

  bool is_segment_over() const {
    return records_.is_segment_full() ||
           now_.ns - ring().segments().back().facts.began_ns >= segment_ns();
  }

  SegmentRing& ring() { return records_.ring(); }

  const SegmentRing& ring() const { return records_.ring(); }

  std::uint64_t segment_ns() const {
    return std::max<std::uint64_t>(options_.before_ns / kSegments, kSecondNs / 10);
  }

  // All records up to now are in it, and what is known of its time.
  void end_segment() {
    records_.flush();
    take_facts();
    now_.is_naming = true;
  }

  void take_facts() {
    SegmentFacts& facts = ring().facts();
    facts.identities = pipeline_.identity_log()->text();
    Observations& observations = pipeline_.world().observations();
    observations.for_each([&facts](const Observation& one) { facts.observations.push_back(one); });
    facts.observations_skipped += observations.skipped();
    observations.clear();
  }

  void begin_segment(std::uint64_t now_ns) {
    const bool is_first = ring().segments().empty();
    now_.ns = now_ns;
    if (!pending_.is_waiting()) {
      ring().forget_before(now_ns - std::min(now_ns, options_.before_ns));
    }
    SegmentFacts facts{.start_ns = source_.recording().started_ns != 0 ? reached_ns_ : 0,
                       .began_ns = now_ns,
                       .own_samples = source_.own_samples(),
                       .own_events = source_.own_events(),
                       .mapping_reads = source_.recording().mapping_reads,
                       .vmstat = vmstat_counters(),
                       .sizes = resident_sizes()};
    if (is_first) {
      records_.begin(std::move(facts), {});
      return;
    }
    pipeline_.identity_log()->begin_file(reached_ns_, pipeline_.world());
    const CarriedState state(new_builder(), pipeline_.world(), kernel_, reached_ns_);
    records_.begin(std::move(facts), state.bytes());
  }

  RecordBuilder new_builder() const {
    return RecordBuilder(source_.events().front().ids.front(), trailer_shape(source_.features()));
  }

  Capture new_capture() {
    Capture capture{.setup = writer_setup(options_.selected, source_),
                    .first_segment = ring().segment_at(
                        pending_.fired_ns() - std::min(pending_.fired_ns(), options_.before_ns)),
                    .facts = facts_,
                    .end = {},
                    .own_samples = source_.own_samples(),
                    .own_events = source_.own_events(),
                    .mapping_reads = source_.recording().mapping_reads,
                    .vmstat = vmstat_counters()};
    capture.setup.zstd_level = 1;
    capture.setup.stop_signals = options_.live.stop_signals;
    capture.setup.about.command_line = options_.command_line;
    add_names(capture);
    capture.facts.started_ns = source_.recording().started_ns;
    capture.facts.stopped_ns = source_.monotonic_clock() ? reached_ns_ : 0;
    const SegmentFacts& first = ring().segments()[capture.first_segment].facts;
    capture.facts.watch = pending_.facts(first.sizes, first.began_ns);
    add_notes(first, capture.facts.notes);
    return capture;
  }

  void add_names(Capture& capture) {
    constexpr std::uint64_t kPatienceNs = 5 * kSecondNs;
    const std::uint64_t until_ns = monotonic_ns() + kPatienceNs;
    (void)namer_.look_up(
        pipeline_.world(), source_.recording(), [until_ns] { return monotonic_ns() >= until_ns; });
    CodeNames names = namer_.names();
    capture.end.build_ids = std::move(names.build_ids);
    capture.end.symbols_json = std::move(names.symbols_json);
    capture.facts.notes = source_.recording().caveats;
    for (const auto& notes : {names.notes, pipeline_.user_stacks().caveats()}) {
      capture.facts.notes.insert(capture.facts.notes.end(), notes.begin(), notes.end());
      capture.facts.notes_of_samples.insert(
          capture.facts.notes_of_samples.end(), notes.begin(), notes.end());
    }
  }

  void add_notes(const SegmentFacts& first, std::vector<std::string>& notes) {
    const std::uint64_t held_ns =
        pending_.fired_ns() - std::min(pending_.fired_ns(), first.began_ns);
    if (held_ns < options_.before_ns && ring().crowded_out() > 0) {
      notes.push_back(fmt::format(
          "the file holds {} before the trigger, not {}: --max-memory has no room for more",
          print_duration(held_ns),
          print_duration(options_.before_ns)));
    }
    if (ring().lost_samples() > 0) {
      notes.push_back(fmt::format("{} found no room in --max-memory",
                                  counted(ring().lost_samples(), "event", "events")));
    }
  }

  // Whatever fails, the watch goes on.
  void write_file() {
    end_segment();
    const std::string name = files_.next_name(
        wall_clock_ns() - (monotonic_ns() - pending_.fired_ns()), pending_.label());
    const std::string part = CaptureFiles::unfinished(name);
    const std::uint64_t began_ns = monotonic_ns();
    const auto written = write_capture(part, ring(), new_capture());
    const auto published = written.ok() ? CaptureFiles::publish(name) : Result<>(written.error());
    pending_.clear();
    begin_segment(monotonic_ns());
    if (!published.ok()) {
      warn("no file was written, and the watch goes on: " + describe(published.error()));
      return;
    }
    ++now_.files;
    tell(name, written.value(), monotonic_ns() - began_ns);
  }

  void tell(const std::string& name, const CaptureSummary& summary, std::uint64_t took_ns) const {
    inform(fmt::format("wrote {}: {}, {}, in {}",
                       name,
                       counted(summary.samples, "event", "events"),
                       print_bytes(summary.bytes),
                       print_duration(took_ns)));
    if (summary.samples_lost > 0) {
      warn(fmt::format("the disk is full: {} of them are missing",
                       print_count(summary.samples_lost)));
    }
    for (const std::string& removed : files_.remove_old()) {
      inform("removed " + removed + " (--keep)");
    }
  }

  struct Now {
    std::uint64_t ns = 0;           // CLOCK_MONOTONIC, as of the last tick
    std::uint64_t compared_ns = 0;  // when figures of /proc were compared
    std::uint64_t files = 0;        // written so far
    bool is_naming = true;          // there are names to be looked up
    bool is_too_large = false;      // memtrace itself
  };

  const WatchOptions& options_;
  LiveSource& source_;
  CaptureFiles& files_;
  const RecordingFacts facts_;
  const std::optional<Mmap> kernel_;
  Pipeline pipeline_;
  TriggerWatch triggers_;
  PendingCapture pending_;
  CodeNamer namer_{true, true};
  SampleRewriter rewriter_;
  RingWriter records_;
  std::uint64_t reached_ns_ = 0;  // all records up to then are in the ring
  Now now_;
};

// Before any thread starts, and again when it begins anew.
void protect() {
  if (const std::size_t taken = take_heap(kWatchHeapBytes); taken < kWatchHeapBytes) {
    warn(fmt::format("memtrace could take only {} of {} beforehand",
                     print_bytes(taken),
                     print_bytes(kWatchHeapBytes)));
  }
  for (const std::string& refused : {pass_over_by_oom_killer(), lock_own_memory()}) {
    if (!refused.empty()) {
      warn(refused);
    }
  }
}

// Until the end: false; or until memtrace has become too large: true.
Result<bool> watch_once(const WatchOptions& options,
                        SegmentRing& ring,
                        CaptureFiles& files,
                        std::uint64_t& written) {
  const auto rules = std::make_shared<SharedRules>();
  LiveSetup live = options.live;
  live.make_rewrite = [rules] { return make_in_ring_unwinder(rules); };
  auto source = LiveSource::open(live, options.selected);
  if (!source.ok()) {
    return source.take_error();
  }
  source.value()->take_memory();
  Watcher watcher(options, *source.value(), ring, files);
  watcher.identify_processes();
  watcher.begin();
  TRY(source.value()->start());
  watcher.share_rules(*rules);
  watcher.identify_new_processes();
  source.value()->announce_ready();
  TRY(watcher.run());
  watcher.finish();
  written += watcher.written();
  source.value()->wait_until_closed();
  return watcher.is_too_large();
}

}  // namespace

Result<std::uint64_t> watch(const WatchOptions& options) {
  CaptureFiles files(options.output, options.keep);
  std::uint64_t written = 0;
  for (bool goes_on = true; goes_on;) {
    auto ring = SegmentRing::create(options.ring_bytes);
    if (!ring.ok()) {
      return ring.take_error();
    }
    protect();
    const auto ended = watch_once(options, ring.value(), files, written);
    if (!ended.ok()) {
      return ended.error();
    }
    goes_on = ended.value();
    if (goes_on) {
      warn(
          fmt::format("memtrace had {} of memory in use, more than {}: it forgets what it has and "
                      "begins anew",
                      print_bytes(own_anonymous_bytes()),
                      print_bytes(options.most_bytes)));
    }
  }
  return written;
}

}  // namespace memtrace
