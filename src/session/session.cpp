#include "session/session.h"

#include <algorithm>
#include <limits>

#include "base/units.h"
#include "os/system.h"
#include "session/page_allocator.h"

namespace memtrace {
namespace {

World::Options world_options(const RecordSource& source, const SessionOptions& options) {
  const auto any_needs = [&options](bool ViewSpec::*need) {
    return std::any_of(options.views.begin(), options.views.end(), [need](const NamedView* view) {
      return view->spec.*need;
    });
  };
  return {.part = options.part,
          .track_live_blocks = any_needs(&ViewSpec::needs_live_blocks),
          .track_mappings = any_needs(&ViewSpec::needs_memory_map),
          .keep_code_of_faults = options.view_options.own.contains("trace"),
          .track_heap_mappings =
              std::any_of(options.views.begin(),
                          options.views.end(),
                          [](const NamedView* view) { return is_heap_view(view->spec); }),
          .page_size_bytes = source.recording().page_size_bytes};
}

}  // namespace

Session::Session(RecordSource& source, SessionOptions options)
    : source_(source),
      options_(std::move(options)),
      pipeline_(source,
                {.world = world_options(source, options_),
                 .live = options_.live,
                 .whole_machine = options_.whole_machine,
                 .probes = options_.probes}),
      naming_(pipeline_.world(), source.recording(), options_.live) {}

Result<std::unique_ptr<Session>> Session::create(RecordSource& source, SessionOptions options) {
  std::unique_ptr<Session> session(new Session(source, std::move(options)));
  session->pipeline_.unwinder().set_machine(source.recording().architecture);
  ViewOptions& view_options = session->options_.view_options;
  view_options.page_size_bytes = source.recording().page_size_bytes;
  if (!session->options_.live) {
    RecordingFacts about = parse_recording_facts(source.recording().about_json);
    view_options.migratetypes = std::move(about.migratetypes);
    view_options.slab_caches = std::move(about.slab_caches);
    for (Observation& observation : about.observations) {
      session->pipeline_.world().observations().add(std::move(observation));
    }
    session->pipeline_.world().observations().add_skipped(about.observations_skipped);
    view_options.cpu_nodes = std::move(about.cpu_nodes);
    session->about_.started_ns = about.started_ns;
    session->about_.stopped_ns = about.stopped_ns;
  } else {
    session->vmstat_ = vmstat_counters();
  }
  session->pipeline_.world().set_allocator_test([made = session.get()](StackId stack) {
    made->allocator_stacks_.learn(made->pipeline_.decoder().types());
    return made->allocator_stacks_.contains(stack, made->naming_);
  });
  view_options.is_page_allocator = [naming = &session->naming_](LocationId location) {
    return is_page_allocator(naming->location(location));
  };
  view_options.namer = &session->naming_;
  for (const NamedView* view : session->options_.views) {
    auto made = make_view(view->spec, view_options);
    if (!made.ok()) {
      return made.take_error();
    }
    session->views_.push_back(made.take());
  }
  std::vector<const ViewSpec*> specs;
  std::vector<View*> views;
  for (std::size_t i = 0; i < session->views_.size(); ++i) {
    specs.push_back(&session->options_.views[i]->spec);
    views.push_back(session->views_[i].get());
  }
  session->handlers_.set_views(std::move(specs), std::move(views));
  if (session->options_.live) {
    TRY(session->check_views());  // before anything is started
  }
  return session;
}

// A pipe announces its events before its first sample, and not all at once.
Result<> Session::check_views() {
  views_checked_ = true;
  pipeline_.decoder().learn_events();
  handlers_.learn(pipeline_.decoder().types(), source_.recording());
  checked_types_ = handlers_.types();
  for (const auto& view : views_) {
    TRY(view->check(checked_types_));
  }
  return kDone;
}

Result<> Session::run(const OnReports& on_reports) {
  on_reports_ = on_reports;
  while (options_.interval_count == 0 || intervals_ < options_.interval_count) {
    const auto more = pipeline_.step(*this);
    if (!more.ok()) {
      return more.error();
    }
    if (!more.value()) {
      break;
    }
  }
  pipeline_.decoder().learn_events();  // of which no sample may have come
  handlers_.learn(pipeline_.decoder().types(), source_.recording());
  about_ = parse_recording_facts(source_.recording().about_json);  // a pipe has it at its end
  const std::uint64_t known_end =
      stopped_ns() != 0 ? stopped_ns() : source_.recording().last_time_ns;
  last_ns_ = is_past_window(known_end) ? first_event_ns_ + options_.window.stop_ns
                                       : std::max(last_ns_, known_end);
  if (started_ns() != 0) {
    enter_window(started_ns());  // no event has come
  }
  if (options_.interval_count != 0 && intervals_ >= options_.interval_count) {
    return kDone;
  }
  return deliver({start_ns_, last_ns_});
}

bool Session::needs_identities() const {
  const auto needs = [](const NamedView* view) { return view->spec.needs_identities; };
  return options_.view_options.asks_identity() || std::ranges::any_of(options_.views, needs);
}

void Session::identify_processes(const LiveSource& source) {
  if (!options_.live) {
    return;
  }
  pipeline_.watch_roots(source.target().command);
  if (needs_identities()) {
    pipeline_.identify_processes(source.target(), source.monotonic_clock());
  }
}

void Session::identify_new_processes(const LiveSource& source) {
  pipeline_.identify_new_processes(source.target());
}

Result<bool> Session::admit(const Record& record) {
  if (is_past_window(record.stamp.time_ns)) {
    return false;  // the state stays as it was; the source has more about itself at its end
  }
  if (options_.interval_ns != 0 && record.stamp.time_ns != 0) {
    TRY(close_intervals(record.stamp.time_ns));
  }
  if (std::holds_alternative<Sample>(record.payload) && !views_checked_) {
    TRY(check_views());
  }
  return true;
}

Result<> Session::on_cut_stacks(const CutStacks& cut) {
  losses_.cut += cut.count;
  return kDone;
}

Result<> Session::on_sample(const SampleStep& step) {
  const Event* event = step.event;
  const std::uint64_t unmatched = pipeline_.world().unmatched_frees() - unmatched_seen_;
  unmatched_seen_ += unmatched;
  if (event == nullptr) {
    return kDone;
  }
  enter_window(event->time_ns);
  // A call that changed mappings while the events were enabled is in the file for what it does.
  const bool is_early = event->time_ns < pipeline_.world().counted_from_ns();
  if (is_early && options_.window.start_ns != 0) {
    return kDone;
  }
  handlers_.learn(pipeline_.decoder().types(), source_.recording());
  handlers_.count(*event);
  if (is_early) {
    return kDone;
  }
  last_ns_ = std::max(last_ns_, event->time_ns);
  if (!wanted(*event)) {
    return kDone;
  }
  note_unknown(*event);
  if (unmatched != 0) {
    unmatched_.resize(std::max<std::size_t>(unmatched_.size(), event->type->index + 1U));
    unmatched_[event->type->index] += unmatched;
  }
  handlers_.dispatch(*event, pipeline_.world());
  return kDone;
}

bool Session::is_past_window(std::uint64_t time_ns) const {
  return first_event_ns_ != 0 && time_ns > first_event_ns_ &&
         time_ns - first_event_ns_ > options_.window.stop_ns;
}

void Session::enter_window(std::uint64_t first_event_ns) {
  if (first_event_ns_ != 0) {
    return;
  }
  first_event_ns_ = started_ns() != 0 ? started_ns() : first_event_ns;
  const std::uint64_t most_ns = std::numeric_limits<std::uint64_t>::max() - first_event_ns_;
  pipeline_.world().count_from(first_event_ns_ + std::min(options_.window.start_ns, most_ns));
  start_ns_ = start_ns_ == 0 ? pipeline_.world().counted_from_ns() : start_ns_;
}

// A free belongs to the task that allocated the block: else blocks freed by others would seem to be
// live.
bool Session::wanted(const Event& event) {
  using Verdict = TaskFilter::Verdict;
  const LiveBlock* block = event.freed;
  const TaskFilter& tasks = options_.view_options.tasks;
  const Verdict verdict = block != nullptr ? tasks.judge(pipeline_.world(), *block)
                                           : tasks.judge(pipeline_.world(), event);
  if (verdict != Verdict::Accepted && may_be_known(event)) {
    unknown_.by_name += verdict == Verdict::UnknownName ? 1U : 0U;
    unknown_.by_user += verdict == Verdict::UnknownUser ? 1U : 0U;
    unknown_.by_cgroup += verdict == Verdict::UnknownCgroup ? 1U : 0U;
  }
  return verdict == Verdict::Accepted;
}

void Session::note_unknown(const Event& event) {
  if (!may_be_known(event)) {
    return;
  }
  unknown_.users += pipeline_.world().identities().knows_user(event.identity) ? 0U : 1U;
  unknown_.cgroups += pipeline_.world().identities().knows_cgroup(event.identity) ? 0U : 1U;
}

// The idle task, 0, is nobody's, and of what no view takes no report says whose it is.
bool Session::may_be_known(const Event& event) {
  return event.pid != 0 && handlers_.has_view_for(event);
}

Result<> Session::close_intervals(std::uint64_t now_ns) {
  if (interval_end_ns_ == 0) {
    start_ns_ = started_ns() != 0 ? started_ns() : now_ns;
    interval_end_ns_ = start_ns_ + options_.interval_ns;
  }
  while (now_ns >= interval_end_ns_ &&
         (options_.interval_count == 0 || intervals_ < options_.interval_count)) {
    TRY(deliver({start_ns_, interval_end_ns_}));
    start_ns_ = interval_end_ns_;
    interval_end_ns_ += options_.interval_ns;
  }
  return kDone;
}

Result<> Session::deliver(View::Span span) {
  ++intervals_;
  pipeline_.observe_end(span.end_ns);
  about_ = parse_recording_facts(source_.recording().about_json);  // a pipe has it at its end
  count_logged_losses(span);
  note_vmstat();
  std::vector<Report> reports;
  for (std::size_t i = 0; i < views_.size(); ++i) {
    Report report = views_[i]->finish(pipeline_.world(), span);
    views_[i]->complete(report, naming_);
    report.view = options_.views[i]->name;
    report.start_ns = span.start_ns;
    report.end_ns = span.end_ns;
    if (!options_.suppressions.empty()) {
      options_.suppressions.apply(report, naming_);
    }
    TRY(arrange(report, options_.arrange, naming_));
    resolve(report, naming_);
    Caveats known = caveats();
    note_losses(known);
    if (options_.views[i]->spec.needs_live_blocks) {
      note_bounds(report, known);
      note_partial(options_.views[i]->spec, known);
      note_unmatched(i, known);
    }
    note_parts(options_.views[i]->spec, known);
    note_lost_mappings(options_.views[i]->spec, known);
    if (view_is_sampled(i)) {
      known.notes.emplace_back(
          "events were sampled one in N: counts and bytes are scaled by N, and live blocks are not "
          "exact");
    }
    known.notes.insert(known.notes.end(), report.caveats.notes.begin(), report.caveats.notes.end());
    report.caveats = std::move(known);
    note_identities(report.caveats);
    note_empty(report);
    reports.push_back(std::move(report));
  }
  unmatched_.clear();
  TRY(on_reports_(std::move(reports)));
  losses_ = {};
  loss_times_ = {.perhaps_ever = loss_times_.perhaps_ever || loss_times_.perhaps > 0};
  unknown_ = {};
  return kDone;
}

void Session::note_vmstat() {
  if (!options_.live) {
    pipeline_.world().note_vmstat_growth(about_.vmstat);
    return;
  }
  VmstatCounters now = vmstat_counters();
  pipeline_.world().note_vmstat_growth(growth_of(vmstat_, now));
  vmstat_ = std::move(now);
}

bool Session::view_is_sampled(std::size_t view_index) const {
  const auto& events = source_.recording().events;
  for (std::size_t i = 0; i < events.size(); ++i) {
    const bool is_sampled = !events[i].is_tracking && !events[i].is_counted &&
                            !events[i].is_clock && events[i].period != 1;
    if (is_sampled && handlers_.wants(view_index, i)) {
      return true;
    }
  }
  return false;
}

}  // namespace memtrace
