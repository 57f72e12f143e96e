// Rings of the live kernel as RecordSource: opens the events, describes what runs already, starts
// the command, and gives out what all its feeds have in the order of time.
//
//   SnapshotFeed  /proc as it was at the start        --+
//   LossFeed      what was lost, ticks, counts        --+--> next()
//   RingFeed      the rings, drained and merged       --+
//   AddedEventSource  events for files mapped later, into the same rings
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "os/ready_notice.h"
#include "os/stop_signals.h"
#include "perf/event/event_closer.h"
#include "perf/event/event_counts.h"
#include "perf/event/event_set.h"
#include "perf/live/added_events.h"
#include "perf/live/loss_feed.h"
#include "perf/live/ring_feed.h"
#include "perf/live/snapshot_feed.h"
#include "perf/live/wanted_events.h"
#include "perf/pace/pacer.h"
#include "perf/record/record_source.h"
#include "perf/target/target.h"
#include "perf/target/target_end.h"

namespace memtrace {

struct LiveSetup {
  Target target;
  CallGraph call_graph;
  std::size_t ring_bytes = 0;           // for each CPU; 0: default_ring_bytes()
  bool somebody_waits = false;          // reads records as they come: within 200 ms
  bool is_patient = false;              // nobody does: rings are looked at ten times a second
  std::size_t queue_bytes = 0;          // of records that wait; 0: queue_limit_bytes()
  std::uint64_t count_interval_ns = 0;  // of events that are only counted; 0: at the end
  double max_overhead = 0;              // 0.03: at most 3 %; 0: record each event
  std::uint64_t duration_ns = 0;        // 0: until the target ends or the user stops it
  StopSignals* stop_signals = nullptr;  // asked now and then; may be null
  ReadyNotice* ready = nullptr;         // for announce_ready(); may be null
  std::function<SampleRewrite()> make_rewrite;  // one for each ring; may be empty
  std::function<void()> before_stop = {};       // see LiveSource::set_before_stop()
  std::function<void()> before_start = {};      // see LiveSource::set_around()
  std::function<void()> after_stop = {};        // the same
};

class LiveSource final : public RecordSource {
 public:
  static Result<std::unique_ptr<LiveSource>> open(LiveSetup setup, const WantedEvents& wanted);
  LiveSource(const LiveSource&) = delete;
  LiveSource& operator=(const LiveSource&) = delete;
  LiveSource(LiveSource&&) = delete;
  LiveSource& operator=(LiveSource&&) = delete;
  ~LiveSource() override;

  // Enables everything and lets the command run. Error: the command cannot be run.
  Result<> start();

  // Takes all memory for records before they come. Call it before start().
  void take_memory() { rings_.take_memory(); }

  // Notifies a script that waits. Call it after start(), when the initial state has been read: what
  // the script does next must not be part of that state.
  void announce_ready() const;

  // Tick records come between others whenever all records up to a time have been given out.
  Result<std::optional<Record>> next() override;

  const Recording& recording() const override { return recording_; }

  // Called once, by next(), when the recording ends and its events still come: what they count can
  // be read beside them. It outlives next().
  // Called just before the events are enabled, and just after they are disabled.
  void set_around(std::function<void()> before_start, std::function<void()> after_stop) {
    setup_.before_start = std::move(before_start);
    setup_.after_stop = std::move(after_stop);
  }

  void set_before_stop(std::function<void()> before_stop) {
    setup_.before_stop = std::move(before_stop);
  }

  // Ends the recording: what the rings hold by now still comes. May be called again and at any
  // time; `signal` is passed on to the command, 0 = none.
  void stop(int signal) { end_.ask(signal); }

  // Warnings that were printed as it happened. They are among recording().caveats, too.
  const std::vector<std::string>& told_notes() const { return told_.notes; }

  // The tracking event first, in the order of recording().events; both may grow.
  const std::vector<OpenedEvent>& events() const { return events_.events(); }

  // What was to be watched had ended before everything was recorded: a caveat says so.
  bool came_too_late() const { return came_too_late_; }

  // With the pid of a command.
  const Target& target() const { return setup_.target; }

  bool monotonic_clock() const { return events_.features().clock_id; }

  const AttrFeatures& features() const { return events_.features(); }

  // Records wait for next(): who does not ask for them soon will lose some.
  bool has_many_waiting() const { return rings_.is_filling(); }

  // Once the recording has ended: waits until the kernel has removed its events. Closing other
  // events before that would delay the removal of the probes.
  void wait_until_closed() { closer_.wait(); }

  // TargetEnd::end_command()
  std::optional<int> end_command() { return end_.end_command(); }

  // In which events were watched (LiveSetup::max_overhead), since the last call.
  std::vector<WatchedWindow> take_windows() {
    return pacer_ ? pacer_->take_windows() : std::vector<WatchedWindow>();
  }

  // Samples of memtrace's own work that a system-wide recording left out.
  std::uint64_t own_samples() const;
  // The same by the name of their event, with those that have none.
  std::map<std::string, std::uint64_t> own_events() const;

 private:
  struct Told {
    bool unfollowed = false;
    std::vector<std::string> notes;
  };

  LiveSource(LiveSetup setup,
             const WantedEvents& wanted,
             EventSet events,
             std::vector<std::int32_t> tids,
             std::optional<HeldCommand> command);

  void start_added_events();
  void adopt_added_events();
  std::optional<Record> next_merged_record();
  bool weigh(Record& record);
  bool wants(const Record& record);
  bool is_before_start(std::uint64_t time_ns, const Sample& sample) const;
  bool is_after_end(std::uint64_t time_ns) const;
  bool is_own(const Sample& sample);
  void note_seen(const Record& record);
  void note_unfollowed();
  void read_counts(std::uint64_t time_ns);
  void read_lost_mappings(std::uint64_t time_ns);
  void collect();
  Result<> start_pace(bool enabled_by_exec);
  void keep_pace();
  void limit_probes();
  void note_gaps();
  std::uint64_t since_start_ns() const;
  void tell(const std::string& note);
  void end_events();

  LiveSetup setup_;
  EventSet events_;
  TargetEnd end_;
  Recording recording_;
  RingFeed rings_;
  SnapshotFeed snapshot_;
  LossFeed losses_;
  EventCounts counts_;
  std::unique_ptr<AddedEventSource> added_;  // null where no file needs to be looked at
  std::vector<std::int32_t> tids_;           // {-1}: the whole machine
  EventCloser closer_;
  std::vector<std::uint64_t> own_samples_;  // by event
  Told told_;
  bool came_too_late_ = false;
  std::unique_ptr<Pacer> pacer_;  // null: each event is recorded
};

}  // namespace memtrace
