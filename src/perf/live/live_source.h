// Rings of the live kernel as RecordSource: opens the events, describes what runs already, starts
// the command, drains, merges, and knows when to stop.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "os/ready_notice.h"
#include "os/stop_signals.h"
#include "perf/event/event_closer.h"
#include "perf/event/event_set.h"
#include "perf/live/added_events.h"
#include "perf/live/mapping_recovery.h"
#include "perf/live/ring_merge.h"
#include "perf/live/ring_reader.h"
#include "perf/record/record_builder.h"
#include "perf/record/record_source.h"
#include "perf/target/target.h"

namespace memtrace {

struct LiveSetup {
  Target target;
  std::vector<EventRequest> events;
  CallGraph call_graph;
  bool data_mappings = false;           // record all mappings, not only executable ones
  bool is_prompt = false;               // events arrive within milliseconds, also in a quiet time
  std::size_t ring_bytes = 0;           // for each CPU; 0: default_ring_bytes()
  std::uint64_t duration_ns = 0;        // 0: until the target ends or the user stops it
  StopSignals* stop_signals = nullptr;  // asked now and then; may be null
  ReadyNotice* ready = nullptr;         // told when everything is recorded; may be null
  std::vector<std::string> notes;       // from the selection of events: caveats of the recording
  std::function<SampleRewrite()> make_rewrite;  // one for each ring; may be empty
  ChooseEvents choose_added;  // asked by a thread of its own for files mapped later; may be empty
};

class LiveSource final : public RecordSource {
 public:
  static Result<std::unique_ptr<LiveSource>> open(LiveSetup setup);
  ~LiveSource() override;

  // Enables everything and lets the command run. Error: the command cannot be run.
  Result<> start();

  // Tick records come between others whenever all records up to a time have been given out.
  Result<std::optional<Record>> next() override;

  const Recording& recording() const override { return recording_; }

  // Ends the recording: what the rings hold by now still comes. May be called again and at any
  // time; `signal` is passed on to the command, 0 = none.
  void stop(int signal);

  // The tracking event first, in the order of recording().events; both may grow.
  const std::vector<OpenedEvent>& events() const { return events_.events(); }

  // What was to be watched had ended before everything was recorded: a caveat says so.
  bool came_too_late() const { return came_too_late_; }

  // With the pid of a command.
  const Target& target() const { return setup_.target; }

  bool monotonic_clock() const { return events_.features().clock_id; }

  const AttrFeatures& features() const { return events_.features(); }

  // Wait status of the command; one that is still running is asked to end (SIGTERM) and waited for
  // a moment. Nothing when there is no command, it does not end, or it died
  // of that signal.
  std::optional<int> end_command();

  // Samples of memtrace's own work that a system-wide recording left out.
  std::uint64_t own_samples() const { return own_samples_; }

 private:
  LiveSource(LiveSetup setup,
             EventSet events,
             std::vector<std::int32_t> tids,
             std::optional<HeldCommand> command);

  KeptMaps kept_maps() const;
  void take_snapshot();
  void start_readers();
  void start_added_events();
  void adopt_added_events();
  std::optional<Record> next_snapshot_record();
  std::optional<Record> next_merged_record();
  std::optional<Record> next_own_record();
  void collect();
  std::uint64_t tick_time_ns();
  void note_losses();
  std::optional<Record> next_loss();
  void note_span(Record& record);
  bool is_before_start(const Record& record) const;
  bool is_after_end(const Record& record) const;
  void note_seen(const Record& record);
  void note_unfollowed();
  void read_lost_mappings(std::uint64_t time_ns);
  void note_tail_loss();
  bool should_stop();
  bool target_is_gone() const;
  bool is_own(const Record& record);
  void look_for_end();
  void end_events();
  void shut_down();

  LiveSetup setup_;
  EventSet events_;
  std::optional<HeldCommand> command_;
  Recording recording_;
  SharedParser parser_;
  RecordMender mender_;
  ChunkQueue queue_;
  RingMerge merge_;
  std::vector<std::unique_ptr<RingReader>> readers_;  // after what they use: destroyed first
  std::unique_ptr<AddedEventSource> late_;
  std::vector<std::int32_t> tids_;  // {-1}: the whole machine
  RecordBuilder snapshot_;
  std::size_t snapshot_position_ = 0;
  MappingRecovery mapping_recovery_;
  EventCloser closer_;
  std::deque<Record> own_records_;  // ticks and what has no time of its own
  std::deque<Record> losses_;       // by time, to be given out between the records
  std::vector<std::uint64_t> newest_by_ring_ns_;
  std::uint64_t deadline_ns_ = 0;  // CLOCK_MONOTONIC

  // The last known pair of record time and CLOCK_MONOTONIC; both 0 until a record has come.
  struct ClockSample {
    std::uint64_t record_ns = 0;
    std::uint64_t at_ns = 0;
  };

  ClockSample clock_sample_;
  std::uint64_t last_time_ns_ = 0;
  std::uint64_t lost_in_records_ = 0;
  std::uint64_t own_samples_ = 0;
  std::uint32_t given_since_look_ = 0;  // records
  std::optional<int> command_status_;
  bool told_unfollowed_ = false;
  bool came_too_late_ = false;
  bool stop_asked_ = false;
  bool ended_command_ = false;  // end_command() was called
  bool ended_events_ = false;   // they are disabled, and being closed
  bool drained_ = false;        // readers have ended, the merge has everything
};

}  // namespace memtrace
