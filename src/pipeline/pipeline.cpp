#include "pipeline/pipeline.h"

#include <algorithm>
#include <functional>
#include <memory>

#include "decode/ahead_stacks.h"
#include "observe/host_facts.h"
#include "observe/local_formats.h"
#include "perf/target/proc_snapshot.h"

namespace memtrace {
namespace {

// Of a recording that has lost its formats: this machine's.
std::function<bool(EventInfo&)> format_completer() {
  return [formats = std::make_shared<LocalFormats>()](EventInfo& event) {
    const LocalFormat* local = formats->find(event.config);
    if (local == nullptr) {
      return false;
    }
    event.name = local->name;
    event.format = local->text;
    return true;
  };
}

}  // namespace

// The decoder itself reads nothing of this machine.
MachineFacts Pipeline::this_machine() {
  return {.slab_caches = slab_caches,
          .complete_format = format_completer(),
          .root_of = [this](std::uint32_t pid, std::uint64_t time_ns) {
            return roots_ ? roots_->of(pid, time_ns) : std::string();
          }};
}

Pipeline::Pipeline(RecordSource& source, const PipelineSetup& setup)
    : source_(source),
      setup_(setup),
      world_(setup.world),
      identity_replay_(world_, source.recording()),
      user_stacks_(world_),
      decoder_(world_, source.recording(), this_machine()) {
  if (setup.probes != nullptr) {
    probe_samples_.emplace(*setup.probes);
  }
  if (!setup.live && world_.makes_stacks()) {
    make_stacks_ahead();
  }
}

// The source may outlive all others, and its thread looks at what only the thread needs.
void Pipeline::make_stacks_ahead() {
  source_.work_ahead(
      [stacks = std::make_shared<AheadStacks>(world_,
                                              decoder_,
                                              source_.recording(),
                                              MachineFacts{.complete_format = format_completer()})](
          Record& record) { stacks->on(record); });
}

Result<> Pipeline::run(PipelineSink& sink) {
  while (true) {
    const auto more = step(sink);
    if (!more.ok()) {
      return more.error();
    }
    if (!more.value()) {
      return kDone;
    }
  }
}

Result<bool> Pipeline::step(PipelineSink& sink) {
  auto record = source_.next();
  if (!record.ok()) {
    return record.take_error();
  }
  if (!record.value()) {
    return false;
  }
  if (probe_samples_) {
    record = probe_samples_->complete(*record.value());
  }
  if (record.value()) {
    TRY(on(*record.value(), sink));
  }
  return true;
}

Result<> Pipeline::on(const Record& record, PipelineSink& sink) {
  const auto admitted = sink.admit(record);
  if (!admitted.ok() || !admitted.value()) {
    return admitted.ok() ? Result<>(kDone) : admitted.error();
  }
  identify(record);
  if (setup_.live && !setup_.whole_machine) {
    taken_events_.see(record);
  }
  if (const auto* sample = std::get_if<Sample>(&record.payload)) {
    return on_sample(record, *sample, sink);
  }
  if (const auto* lost = std::get_if<Lost>(&record.payload)) {
    world_.note_loss(record.stamp.time_ns);
    return sink.on_loss(record, *lost);
  }
  if (const auto* cut = std::get_if<CutStacks>(&record.payload)) {
    return sink.on_cut_stacks(*cut);
  }
  if (const auto* counted = std::get_if<Counted>(&record.payload)) {
    return sink.on_count(record.stamp, *counted);
  }
  if (std::holds_alternative<Tick>(record.payload)) {
    return sink.on_tick();
  }
  decoder_.apply(record);
  if (command_watch_) {
    command_watch_->after(record);
  }
  return sink.on_record(record);
}

Result<> Pipeline::on_sample(const Record& record, const Sample& sample, PipelineSink& sink) {
  SampleStep step{.record = record, .sample = sample, .callchain = sample.callchain, .event = {}};
  if (sample.registers.mask == 0) {  // of an event that was asked for no stacks
    return on_event(step, decoder_.apply(record), sink);
  }
  Record completed = record;
  step.callchain = std::get<Sample>(completed.payload).callchain = user_stacks_.complete(sample);
  return on_event(step, decoder_.apply(completed), sink);
}

Result<> Pipeline::on_event(SampleStep& step,
                            const std::optional<Event>& event,
                            PipelineSink& sink) {
  if (event) {
    step.event = &*event;
    if (setup_.live) {
      observer_.on(*event, world_.observations(), known_cgroup(world_, *event));
    }
  }
  return sink.on_sample(step);
}

void Pipeline::identify(const Record& record) {
  if (identity_watch_) {
    identity_watch_->before(record);
  } else {
    identity_replay_.advance(record.stamp.time_ns);
  }
}

void Pipeline::identify_processes(const Target& target, bool monotonic_clock) {
  identity_watch_.emplace(
      world_,
      IdentityWatch::Setup{.announcements = kernel_announcements(monotonic_clock),
                           .monotonic_clock = monotonic_clock});
  identity_watch_->read_all(target);
  command_watch_.emplace(world_, identity_watch_->log());
  command_watch_->read_all(target);
  const auto is_page_alloc = [](const EventInfo& event) {
    return event.name == "kmem:mm_page_alloc";
  };
  if (std::ranges::any_of(recording().events, is_page_alloc)) {
    observer_.begin_tmpfs();
  }
  const auto is_object_alloc = [](const EventInfo& event) {
    return event.name == "kmem:kmem_cache_alloc";
  };
  if (std::ranges::any_of(recording().events, is_object_alloc)) {
    observe_slabs();
  }
}

void Pipeline::observe_slabs() {
  observer_.begin_slabs();
}

void Pipeline::identify_new_processes(const Target& target) {
  if (identity_watch_) {
    identity_watch_->read_new(target);
    command_watch_->read_all(target);
  }
  if (setup_.resident_pages) {
    const auto pids = processes_of(target);
    observer_.begin_resident({pids.begin(), pids.end()}, world_.observations());
  }
}

void Pipeline::observe_end(std::uint64_t time_ns) {
  if (setup_.live) {
    observer_.at_end(time_ns, world_.observations());
  }
}

}  // namespace memtrace
