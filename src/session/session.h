// Events into views, and views into finished reports: the pipeline's sink behind `memtrace report`
// and every live view. They differ in the source and in how often reports are asked for.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "observe/host_facts.h"
#include "perf/live/live_source.h"
#include "perf/record/record_source.h"
#include "pipeline/pipeline.h"
#include "report/arrange.h"
#include "report/resolve.h"
#include "report/suppressions.h"
#include "sections/recording_facts.h"
#include "session/allocator_stacks.h"
#include "session/frame_namer.h"
#include "session/time_window.h"
#include "session/view_dispatch.h"
#include "views/all/all_views.h"

namespace memtrace {

struct SessionOptions {
  std::vector<const NamedView*> views;
  ViewOptions view_options;  // for all of them
  ArrangeOptions arrange;
  Suppressions suppressions;
  StackPart part = StackPart::Whole;
  TimeWindow window;                      // of a file
  std::uint64_t interval_ns = 0;          // 0: one report at the end
  std::uint64_t interval_count = 0;       // 0: until the source ends
  bool live = false;                      // the source is this machine's kernel
  bool whole_machine = true;              // of a live source; a file says it itself
  std::vector<std::string> limited = {};  // those of filtered_events()
  // PipelineSetup::probes
  const std::vector<OpenedEvent>* probes = nullptr;
};

// Events of which it was not known whose they were.
struct UnknownIdentities {
  std::uint64_t users = 0;
  std::uint64_t cgroups = 0;
  // Left out by a filter that could not be decided.
  std::uint64_t by_name = 0;
  std::uint64_t by_user = 0;
  std::uint64_t by_cgroup = 0;
};

class Session final : private PipelineSink {
 public:
  // `source` outlives the session. Error: Usage, an option that a view does not take.
  static Result<std::unique_ptr<Session>> create(RecordSource& source, SessionOptions options);

  // One report for each view, arranged and named; called at each interval's end and at the
  // source's. An error ends the run.
  using OnReports = std::function<Result<>(std::vector<Report>)>;

  Result<> run(const OnReports& on_reports);

  // Live: whose the processes are that run already; before the source is started, and after it.
  void identify_processes(const LiveSource& source);
  void identify_new_processes(const LiveSource& source);

  // The name, samples and hits of each event of the recording.
  using EventCount = ViewDispatch::Count;

  const std::vector<EventCount>& event_counts() const { return handlers_.counts(); }

  // True when a view makes something of an event of this recording.
  // Events are missing, or the file is not all that was to be written.
  bool may_miss_events(const Report& report) const;

  bool view_has_events(std::size_t view_index) const { return handlers_.has_events(view_index); }

  // Those events were watched, though none of them may have come.
  bool view_is_recorded(std::size_t view_index) const { return handlers_.is_recorded(view_index); }

  const World& world() const { return pipeline_.world(); }

  View::Span span() const { return {start_ns_, last_ns_}; }

  Caveats caveats() const;

 private:
  Session(RecordSource& source, SessionOptions options);

  Result<bool> admit(const Record& record) override;
  Result<> on_sample(const SampleStep& step) override;
  Result<> on_loss(const Record& record, const Lost& lost) override;
  Result<> on_cut_stacks(const CutStacks& cut) override;
  void count_logged_losses(View::Span span);
  void attribute(const LossEntry& loss, std::uint64_t first_ns, std::uint64_t last_ns);
  bool wanted(const Event& event);
  std::uint64_t started_ns() const;
  std::uint64_t stopped_ns() const;
  bool is_past_window(std::uint64_t time_ns) const;
  void enter_window(std::uint64_t first_event_ns);
  Result<> check_views();
  Result<> close_intervals(std::uint64_t now_ns);
  Result<> deliver(View::Span span);
  void note_vmstat();
  bool view_is_sampled(std::size_t view_index) const;
  void note_losses(Caveats& caveats) const;
  void note_empty(Report& report) const;
  void note_bounds(const Report& report, Caveats& caveats) const;
  void note_partial(const ViewSpec& view, Caveats& caveats) const;
  void note_unmatched(std::size_t view_index, Caveats& caveats) const;
  void note_identities(Caveats& caveats) const;
  bool needs_identities() const;
  void note_unknown(const Event& event);
  bool may_be_known(const Event& event);
  void note_parts(const ViewSpec& view, Caveats& caveats) const;
  void note_lost_mappings(const ViewSpec& view, Caveats& caveats);

  // Of losses that cannot be put to one interval.
  struct LossTimes {
    std::uint64_t perhaps = 0;    // in this interval, or shortly before or after it
    bool perhaps_ever = false;    // in any interval before
    std::uint64_t before = 0;     // of what is counted in this one: perhaps lost up to before_ns
    std::uint64_t before_ns = 0;  // earlier
  };

  RecordSource& source_;
  SessionOptions options_;
  Pipeline pipeline_;
  OnReports on_reports_;
  bool mappings_in_doubt_ = false;
  UnknownIdentities unknown_;  // of this interval
  FrameNamer naming_;
  std::vector<std::unique_ptr<View>> views_;
  ViewDispatch handlers_;
  std::deque<EventType> checked_types_;  // what the views checked before the first event
  Caveats losses_;                       // of this interval
  LossTimes loss_times_;
  RecordingFacts about_;   // as of the last reports
  VmstatCounters vmstat_;  // of a live source, as it was when the interval began
  std::uint64_t first_event_ns_ = 0;
  std::uint64_t start_ns_ = 0;  // of the interval
  std::uint64_t last_ns_ = 0;
  std::uint64_t interval_end_ns_ = 0;
  std::uint64_t intervals_ = 0;
  AllocatorStacks allocator_stacks_;
  std::uint64_t unmatched_seen_ = 0;      // of world_.unmatched_frees()
  std::vector<std::uint64_t> unmatched_;  // by event: of this interval, of wanted tasks
  bool views_checked_ = false;
};

}  // namespace memtrace
