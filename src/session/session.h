// Events into views, and views into finished reports: the pipeline's sink behind `memtrace report`
// and every live view. They differ in the source and in how often reports are asked for.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "base/result.h"
#include "observe/host_facts.h"
#include "perf/live/live_source.h"
#include "perf/record/record_source.h"
#include "pipeline/pipeline.h"
#include "sections/recording_facts.h"
#include "session/allocator_stacks.h"
#include "session/caveat_writer.h"
#include "session/dispatch/view_dispatch.h"
#include "session/frame_namer.h"
#include "session/interval_clock.h"
#include "session/loss_counter.h"
#include "session/memory_bound.h"
#include "session/report_namer.h"
#include "session/session_options.h"
#include "session/unknown_identities.h"
#include "session/unmatched_frees.h"

namespace memtrace {

class Session final : private PipelineSink {
 public:
  // `source` outlives the session. Error: Usage, an option that a view does not take.
  static Result<std::unique_ptr<Session>> create(RecordSource& source, SessionOptions options);

  // One report for each view, arranged and named; called at each interval's end and at the
  // source's. An error ends the run.
  using OnReports = std::function<Result<>(std::vector<Report>)>;

  // What ViewOptions::wants_lines() asked for, a report with one table each time: as events come,
  // and before the reports of the interval's end. Without one nobody gets them.
  using OnLines = std::function<Result<>(const Report& lines)>;

  Result<> run(const OnReports& on_reports, const OnLines& on_lines = {});

  // Live: whose the processes are that run already; before the source is started, and after it.
  void identify_processes(const LiveSource& source);
  void identify_new_processes(const LiveSource& source);

  // Live: the machine's counters are those of the time between.
  void begin_counting();
  void end_counting();

  // The name, samples and hits of each event of the recording.
  using EventCount = ViewDispatch::Count;

  const std::vector<EventCount>& event_counts() const { return dispatch_.counts(); }

  // Events are missing, or the file is not all that was to be written.
  bool may_miss_events(const Report& report) const;

  // True when a view makes something of an event of this recording.
  bool view_has_events(std::size_t view_index) const { return dispatch_.has_events(view_index); }

  // Those events were watched, though none of them may have come.
  bool view_is_recorded(std::size_t view_index) const { return dispatch_.is_recorded(view_index); }

  const World& world() const { return pipeline_.world(); }

  // Names for what reports mention.
  Namer& namer() { return naming_; }

  View::Span span() const { return clock_.span(); }

  // What all reports say of their own truth.
  Caveats caveats() const { return caveat_writer().shared(); }

  // Those of the notes that do not explain why an event is missing.
  std::vector<std::string> notes_of_samples() const { return caveat_writer().notes_of_samples(); }

 private:
  Session(RecordSource& source, SessionOptions options);

  Result<bool> admit(const Record& record) override;
  Result<> on_sample(const SampleStep& step) override;

  Result<> on_tick() override { return give_out_lines(); }

  Result<> on_loss(const Record& record, const Lost& lost) override;
  Result<> on_cut_stacks(const CutStacks& cut) override;
  Result<> on_count(const Stamp& stamp, const Counted& counted) override;

  void learn_from_start();
  void learn_observations(RecordingFacts& about);
  void name_stacks();
  Result<> make_views();
  Result<> make_slot_views();
  Result<> check_views();
  void learn_from_end();
  void on_event(const Event& event, std::uint64_t unmatched);
  bool is_left_out(const Record& record);
  bool count(const Event& event);
  bool pass_over(const Record& record, const Sample& sample);
  bool wanted(const Event& event);
  bool may_be_known(const Event& event);
  bool needs_identities() const;
  bool needs_slab_counts() const;
  bool is_filtered_by_user() const;
  bool has_all_events() const;
  std::uint64_t started_ns() const;
  std::uint64_t stopped_ns() const;
  void enter_window(std::uint64_t first_event_ns);
  Result<> deliver(View::Span span);
  void draw_logged_losses();
  Result<> give_out_lines();
  Result<> find_window(std::uint64_t first_event_ns);
  void expect_times(std::uint64_t first_ns);
  void set_times(Report& report, View::Span span) const;
  Origin origin() const;
  Result<Report> report_of(std::size_t view_index, View::Span span);
  void note_vmstat();
  CaveatWriter caveat_writer() const;

  SessionOptions options_;
  Pipeline pipeline_;
  FrameNamer naming_;
  ReportNamer report_names_;
  AllocatorStacks allocator_stacks_;
  std::vector<std::unique_ptr<View>> views_;
  ViewDispatch dispatch_;
  // What the views checked before the first event; nothing until then.
  std::optional<std::deque<EventType>> checked_types_;

  // Who gets the reports and the lines.
  struct Readers {
    OnReports on_reports;
    OnLines on_lines;
    std::uint64_t events_since_lines = 0;
  };

  Readers readers_;
  IntervalClock clock_;
  MemoryBound bound_;
  LossCounter losses_;
  RecordingFacts about_;  // as of the last reports

  struct OfInterval {
    UnknownIdentities unknown;
    UnmatchedFrees unmatched;     // of wanted tasks
    VmstatCounters vmstat;        // of a live source, as it was when the interval began
    VmstatCounters ended_vmstat;  // as it was when the events ended; empty: they go on
  };

  OfInterval interval_;
};

}  // namespace memtrace
