// The one loop behind every command: a source's records, completed where memtrace's own probes are
// concerned, through identities, user stacks and decoding into the world. What is made of each step
// is up to a sink: a session makes reports (src/session), a recorder a file (src/recording).
//
//   source -> ProbeSamples -> identities -> UserStacks -> EventDecoder -> World -> ProcObserver
//                                                                           |
//                                        a step: record, callchain, event --+--> sink
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "decode/event_decoder.h"
#include "decode/probe_samples.h"
#include "identity/command_watch.h"
#include "identity/identity_watch.h"
#include "identity/taken_events.h"
#include "observe/proc_observer.h"
#include "perf/event/event_set.h"
#include "perf/record/record_source.h"
#include "perf/target/target.h"
#include "programs/process_roots.h"
#include "state/world/world.h"
#include "unwind/user_stacks.h"

namespace memtrace {

// A sample, after it has changed the world.
struct SampleStep {
  const Record& record;  // as it came, with the arguments that a probe's registers hold
  const Sample& sample;  // of `record`
  std::span<const std::uint64_t> callchain;  // the sample's, its user part completed
  const Event* event;                        // null: the sample is malformed
};

// What the steps go to. An error ends the run.
class PipelineSink {
 public:
  PipelineSink() = default;
  PipelineSink(const PipelineSink&) = delete;
  PipelineSink& operator=(const PipelineSink&) = delete;
  PipelineSink(PipelineSink&&) = delete;
  PipelineSink& operator=(PipelineSink&&) = delete;
  virtual ~PipelineSink() = default;

  // Before the record changes anything. False: it is passed over, and the world stays as it was.
  virtual Result<bool> admit(const Record& /*record*/) { return true; }

  virtual Result<> on_sample(const SampleStep& step) = 0;

  // All records up to its time have been given out.
  virtual Result<> on_tick() { return kDone; }

  virtual Result<> on_loss(const Record& record, const Lost& lost) = 0;
  virtual Result<> on_cut_stacks(const CutStacks& cut) = 0;

  // Of an event that the kernel only counts: the world knows nothing of it.
  virtual Result<> on_count(const Stamp& /*stamp*/, const Counted& /*counted*/) { return kDone; }

  // All others, which change the world alone.
  virtual Result<> on_record(const Record& /*record*/) { return kDone; }
};

struct PipelineSetup {
  World::Options world;
  bool live = false;           // the source is this machine's kernel: /proc says more of its events
  bool whole_machine = false;  // of a live source
  bool resident_pages = false;  // the same: what is resident is read at the begin and the end
  // Of a live source: those whose samples still lack what probes know. Null: the samples are whole.
  const std::vector<OpenedEvent>* probes = nullptr;
};

class Pipeline {
 public:
  // `source` outlives the pipeline.
  Pipeline(RecordSource& source, const PipelineSetup& setup);

  // The next record through all stations to the sink. False: the source has ended.
  Result<bool> step(PipelineSink& sink);

  // All steps.
  Result<> run(PipelineSink& sink);

  // Live: the processes' root directories can be seen. `command` is what is run, if it is one.
  void watch_roots(std::span<const std::string> command) { roots_.emplace(command); }

  // Live: whose the processes are that run already; before the source is started, because they may
  // be gone when they are met, and after it.
  void identify_processes(const Target& target, bool monotonic_clock);

  // Live: what slab caches hold now, for observe_end(). identify_processes() does it, too.
  void observe_slabs();
  void identify_new_processes(const Target& target);

  // Whether it is known at all whose processes are.
  bool has_identities() const { return identity_watch_ || identity_replay_.has_any(); }

  // What was learnt of them, once they are watched; else null.
  IdentityLog* identity_log() { return identity_watch_ ? &identity_watch_->log() : nullptr; }

  // Live: what is resident while events still come, for observe_end().
  void read_resident() { observer_.read_resident(); }

  // Live: what /proc says at the end of the recording or of an interval.
  void observe_end(std::uint64_t time_ns);

  World& world() { return world_; }

  const World& world() const { return world_; }

  const Recording& recording() const { return source_.recording(); }

  EventDecoder& decoder() { return decoder_; }

  const EventDecoder& decoder() const { return decoder_; }

  const UserStacks& user_stacks() const { return user_stacks_; }

  StackUnwinder& unwinder() { return user_stacks_.unwinder(); }

  const TakenEvents& taken_events() const { return taken_events_; }

 private:
  Result<> on(const Record& record, PipelineSink& sink);
  Result<> on_event(SampleStep& step, const std::optional<Event>& event, PipelineSink& sink);
  Result<> on_sample(const Record& record, const Sample& sample, PipelineSink& sink);
  void identify(const Record& record);
  MachineFacts this_machine();
  void make_stacks_ahead();

  RecordSource& source_;
  PipelineSetup setup_;
  World world_;
  std::optional<ProbeSamples> probe_samples_;
  std::optional<IdentityWatch> identity_watch_;
  std::optional<CommandWatch> command_watch_;
  IdentityReplay identity_replay_;
  TakenEvents taken_events_;  // live; for a file its recorder wrote them
  UserStacks user_stacks_;
  std::optional<ProcessRoots> roots_;
  EventDecoder decoder_;
  ProcObserver observer_;
};

}  // namespace memtrace
