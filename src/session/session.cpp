#include "session/session.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

#include "base/thread/slow_step.h"
#include "os/system.h"
#include "report/error_bars.h"
#include "report/resolve.h"
#include "session/allocation_wrappers.h"
#include "session/dispatch/slot_views.h"
#include "session/page_allocator.h"
#include "tracepoints/decode/heap.h"

namespace memtrace {
namespace {

// Lines come with the ticks of a live source. A file has none, and a burst of events few.
constexpr std::uint64_t kEventsBetweenLines = 4096;

bool any_needs(const SessionOptions& options, bool ViewSpec::*need) {
  return std::any_of(options.views.begin(), options.views.end(), [need](const NamedView* view) {
    return view->spec.*need;
  });
}

// Views that are of other events, but look at blocks of the heap where they were recorded, too.
bool follows_heap(const RecordSource& source, const SessionOptions& options) {
  EventType malloc;
  malloc.heap_function = "malloc";
  const auto follows = [&malloc](const NamedView* view) {
    return view->spec.needs_memory_map && handles(view->spec, malloc);
  };
  const std::vector<EventInfo>& events = source.recording().events;
  return std::ranges::any_of(options.views, follows) &&
         std::ranges::any_of(events,
                             [](const EventInfo& event) { return is_heap_event(event.name); });
}

World::Options world_options(const RecordSource& source, const SessionOptions& options) {
  const bool has_timeline = options.timeline != nullptr;
  bool reads_stacks = has_timeline;
  for (std::size_t i = 0; i < options.views.size(); ++i) {
    reads_stacks = reads_stacks || needs_stacks(options.views[i]->spec, options.options_of(i));
  }
  return {.part = options.part,
          .stacks = reads_stacks ? StackUse::Stacks : StackUse::None,
          .track_live_blocks = has_timeline || any_needs(options, &ViewSpec::needs_live_blocks) ||
                               follows_heap(source, options),
          .track_mappings = any_needs(options, &ViewSpec::needs_memory_map),
          .keep_code_of_faults = options.view_options.wants_lines(),
          .track_first_touches = any_needs(options, &ViewSpec::needs_resident_pages),
          .track_heap_mappings =
              std::any_of(options.views.begin(),
                          options.views.end(),
                          [](const NamedView* view) { return is_heap_view(view->spec); }),
          .page_size_bytes = source.recording().page_size_bytes};
}

}  // namespace

ViewOptions SessionOptions::options_of(std::size_t view) const {
  ViewOptions options = view_options;
  if (!choices.empty()) {
    options.by = choices[view].by;
    options.own = choices[view].own;
  }
  return options;
}

Session::Session(RecordSource& source, SessionOptions options)
    : options_(std::move(options)),
      pipeline_(source,
                {.world = world_options(source, options_),
                 .live = options_.live,
                 .whole_machine = options_.whole_machine,
                 .resident_pages = any_needs(options_, &ViewSpec::needs_resident_pages),
                 .probes = options_.probes}),
      naming_(pipeline_.world(), source.recording(), options_.live),
      report_names_(naming_, pipeline_.world(), options_.view_options.stack_depth),
      clock_(options_.times),
      bound_(options_.max_memory_bytes),
      losses_(options_.live) {}

Result<std::unique_ptr<Session>> Session::create(RecordSource& source, SessionOptions options) {
  std::unique_ptr<Session> session(new Session(source, std::move(options)));
  session->pipeline_.unwinder().set_machine(source.recording().architecture);
  session->learn_from_start();
  session->name_stacks();
  TRY(session->make_views());
  if (session->options_.live) {
    TRY(session->check_views());  // before anything is started
  }
  return session;
}

// What is known of the machine before the first record.
void Session::learn_from_start() {
  ViewOptions& view_options = options_.view_options;
  view_options.page_size_bytes = pipeline_.recording().page_size_bytes;
  if (options_.live) {
    begin_counting();
    return;
  }
  RecordingFacts about = parse_recording_facts(pipeline_.recording().about_json);
  view_options.migratetypes = std::move(about.migratetypes);
  view_options.slab_caches = std::move(about.slab_caches);
  learn_observations(about);
  view_options.cpu_nodes = std::move(about.cpu_nodes);
  about_.started_ns = about.started_ns;
  about_.stopped_ns = about.stopped_ns;
}

void Session::learn_observations(RecordingFacts& about) {
  Observations& observations = pipeline_.world().observations();
  for (Observation& observation : about.observations) {
    observations.add(std::move(observation));
  }
  observations.add_skipped(about.observations_skipped);
}

// For those who decide by functions on stacks while events come.
void Session::name_stacks() {
  pipeline_.world().set_allocator_test([this](StackId stack) {
    allocator_stacks_.learn(pipeline_.decoder().types());
    return allocator_stacks_.contains(stack, naming_);
  });
  options_.view_options.is_page_allocator = [this](LocationId location) {
    return is_page_allocator(naming_.location(location));
  };
  const auto known = std::make_shared<std::unordered_map<LocationId, bool>>();
  options_.view_options.is_allocation_wrapper = [this, known](LocationId location) {
    const auto [found, is_new] = known->try_emplace(location);
    if (is_new) {
      found->second = is_allocation_wrapper(naming_.location(location));
    }
    return found->second;
  };
  using Function = std::pair<std::string, std::string>;  // its module and name
  const auto first = std::make_shared<std::map<Function, LocationId>>();
  options_.view_options.function_of = [this, first](LocationId location) {
    const Frames& frames = report_names_.location(location);
    return frames.empty()
               ? location
               : first->try_emplace({frames.front().module, frames.front().function}, location)
                     .first->second;
  };
  options_.view_options.namer = &naming_;
}

Result<> Session::make_views() {
  std::vector<const ViewSpec*> specs;
  std::vector<View*> views;
  for (std::size_t i = 0; i < options_.views.size(); ++i) {
    const ViewSpec& spec = options_.views[i]->spec;
    auto made = make_view(spec, options_.options_of(i));
    if (!made.ok()) {
      return made.take_error();
    }
    views_.push_back(made.take());
    specs.push_back(&spec);
    views.push_back(views_.back().get());
  }
  dispatch_.set_views(std::move(specs), std::move(views));
  return make_slot_views();
}

Result<> Session::make_slot_views() {
  for (std::size_t i = 0; options_.slot_views != nullptr && i < options_.views.size(); ++i) {
    TRY(options_.slot_views->add_view(
        *options_.views[i], options_.options_of(i), options_.leaves_rows_out()));
  }
  return kDone;
}

// A pipe announces its events before its first sample, and not all at once.
Result<> Session::check_views() {
  pipeline_.decoder().learn_events();
  dispatch_.learn(pipeline_.decoder().types(), pipeline_.recording());
  checked_types_ = dispatch_.types();
  for (const auto& view : views_) {
    TRY(view->check(*checked_types_));
  }
  if (options_.timeline != nullptr) {
    options_.timeline->check(*checked_types_);
  }
  return options_.slot_views == nullptr ? Result<>(kDone)
                                        : options_.slot_views->check(*checked_types_);
}

Result<> Session::run(const OnReports& on_reports, const OnLines& on_lines) {
  readers_ = {.on_reports = on_reports, .on_lines = on_lines};
  while (!clock_.is_over()) {
    const auto more = pipeline_.step(*this);
    if (!more.ok()) {
      return more.error();
    }
    if (!more.value()) {
      break;
    }
  }
  learn_from_end();
  return clock_.is_over() ? Result<>(kDone) : deliver(clock_.span());
}

void Session::learn_from_end() {
  const Recording& recording = pipeline_.recording();
  pipeline_.decoder().learn_events();  // of which no sample may have come
  dispatch_.learn(pipeline_.decoder().types(), recording);
  about_ = parse_recording_facts(recording.about_json);  // a pipe has it at its end
  clock_.end(stopped_ns() != 0 ? stopped_ns() : recording.last_time_ns);
  if (started_ns() != 0) {
    enter_window(started_ns());  // no event has come
  }
}

// --truth of the kernel's views.
bool Session::needs_slab_counts() const {
  for (std::size_t view = 0; view < options_.views.size(); ++view) {
    if (options_.options_of(view).own.contains("truth")) {
      return true;
    }
  }
  return false;
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
  if (needs_slab_counts()) {
    pipeline_.observe_slabs();
  }
}

void Session::identify_new_processes(const LiveSource& source) {
  pipeline_.identify_new_processes(source.target());
}

// Then the state stays as it was; the source has more about itself at its end.
bool Session::is_left_out(const Record& record) {
  const std::uint64_t time_ns = record.stamp.time_ns;
  // Before the first event there is no window that could end, and no table but that of mappings.
  const bool may_stop = clock_.first_event_ns() != 0 && time_ns > clock_.first_event_ns();
  if (may_stop && bound_.reached()) {
    clock_.stop_before(time_ns);
  }
  if (!clock_.is_past_window(time_ns)) {
    return false;
  }
  if (std::holds_alternative<Sample>(record.payload)) {
    bound_.leave_out();
  }
  return true;
}

Result<bool> Session::admit(const Record& record) {
  const std::uint64_t time_ns = record.stamp.time_ns;
  if (is_left_out(record)) {
    return false;
  }
  while (const auto ended = clock_.take_ended(time_ns, started_ns())) {
    TRY(deliver(*ended));
  }
  if (options_.slot_views != nullptr) {
    options_.slot_views->before(time_ns, world());
  }
  const auto* sample = std::get_if<Sample>(&record.payload);
  if (sample != nullptr && !checked_types_) {
    TRY(check_views());
    TRY(find_window(started_ns() != 0 ? started_ns() : time_ns));
    expect_times(time_ns);
  }
  return sample == nullptr || !pass_over(record, *sample);
}

// Of a file that is reported whole.
void Session::expect_times(std::uint64_t first_ns) {
  const TimeWindow& window = options_.times.window;
  const bool is_whole = window.start_ns == 0 && window.stop_ns == TimeWindow().stop_ns;
  if (options_.timeline != nullptr && is_whole) {
    options_.timeline->expect_until(std::max(first_ns, started_ns()),
                                    pipeline_.recording().last_time_ns);
  }
}

// Most events of a recording of everything are of no use to one view, which needs their counts.
// What is live was opened because a view takes it, and the timeline takes all.
bool Session::pass_over(const Record& record, const Sample& sample) {
  if (options_.live || options_.timeline != nullptr || dispatch_.needs(sample.event)) {
    return false;
  }
  count({.time_ns = record.stamp.time_ns,
         .cpu = record.stamp.cpu,
         .weight = std::max<std::uint64_t>(sample.period, 1),
         .type = &pipeline_.decoder().types()[sample.event]});
  return true;
}

// Times of day are of the day on which the recording was made.
Result<> Session::find_window(std::uint64_t first_event_ns) {
  TimeWindow& window = options_.times.window;
  if (!window.is_of_wall()) {
    return kDone;
  }
  auto found = window.since(first_event_ns, pipeline_.recording().clock);
  if (!found.ok()) {
    return found.take_error();
  }
  window = found.take();
  clock_.set_window(window);
  return kDone;
}

Result<> Session::on_loss(const Record& record, const Lost& lost) {
  losses_.count(record, lost, clock_, world().counted_from_ns());
  if (options_.timeline != nullptr && record.stamp.time_ns != 0) {
    const std::uint64_t last_ns = record.stamp.time_ns;
    options_.timeline->add_loss({.first_ns = lost.first_ns == 0 ? last_ns : lost.first_ns,
                                 .last_ns = last_ns,
                                 .count = lost.count});
  }
  return kDone;
}

Result<> Session::on_cut_stacks(const CutStacks& cut) {
  losses_.count_cut_stacks(cut.count);
  return kDone;
}

// The view sees one event with the weight of all: it needs no more of them
// (ViewSpec::counts_suffice).
Result<> Session::on_count(const Stamp& stamp, const Counted& counted) {
  pipeline_.decoder().learn_events();  // no sample has made it known
  on_event({.time_ns = stamp.time_ns,
            .cpu = stamp.cpu,
            .weight = counted.count,
            .type = &pipeline_.decoder().types()[counted.event]},
           0);
  return kDone;
}

Result<> Session::on_sample(const SampleStep& step) {
  const std::uint64_t unmatched = interval_.unmatched.take_new(world().unmatched_frees());
  if (step.event == nullptr) {
    return kDone;
  }
  on_event(*step.event, unmatched);
  return ++readers_.events_since_lines < kEventsBetweenLines ? Result<>(kDone) : give_out_lines();
}

// False: it is none of what is reported.
bool Session::count(const Event& event) {
  enter_window(event.time_ns);
  // A call that changed mappings while the events were enabled is in the file for what it does.
  const bool is_early = event.time_ns < world().counted_from_ns();
  if (is_early && options_.times.window.start_ns != 0) {
    return false;
  }
  dispatch_.learn(pipeline_.decoder().types(), pipeline_.recording());
  dispatch_.count(event);
  if (options_.slot_views != nullptr) {
    options_.slot_views->learn(pipeline_.decoder().types(), pipeline_.recording());
    options_.slot_views->count(event, is_early);
  }
  if (is_early) {
    return false;
  }
  clock_.see(event.time_ns);
  return true;
}

void Session::on_event(const Event& event, std::uint64_t unmatched) {
  if (!count(event)) {
    return;
  }
  if (!wanted(event)) {
    dispatch_.dispatch_unwanted(event, world());
    return;
  }
  if (may_be_known(event)) {
    interval_.unknown.count(world().identities(), event.identity);
  }
  interval_.unmatched.count(event.type->index, unmatched);
  dispatch_.dispatch(event, world());
  if (options_.timeline != nullptr) {
    options_.timeline->on(event, world());
  }
  if (options_.slot_views != nullptr) {
    options_.slot_views->on(event, world());
  }
}

void Session::enter_window(std::uint64_t first_event_ns) {
  if (const auto counted_from_ns =
          clock_.enter_window(started_ns() != 0 ? started_ns() : first_event_ns)) {
    pipeline_.world().count_from(*counted_from_ns);
  }
}

std::uint64_t Session::started_ns() const {
  return options_.live ? pipeline_.recording().started_ns : about_.started_ns;
}

std::uint64_t Session::stopped_ns() const {
  return options_.live ? pipeline_.recording().stopped_ns : about_.stopped_ns;
}

// A free belongs to the task that allocated the block: else blocks freed by others would seem to be
// live.
bool Session::wanted(const Event& event) {
  using Verdict = TaskFilter::Verdict;
  const LiveBlock* block = event.freed;
  const TaskFilter& tasks = options_.view_options.tasks;
  const Verdict verdict =
      block != nullptr ? tasks.judge(world(), *block) : tasks.judge(world(), event);
  if (verdict != Verdict::Accepted && may_be_known(event)) {
    interval_.unknown.count_left_out(verdict);
  }
  return verdict == Verdict::Accepted;
}

// The idle task, 0, is nobody's, and of what no view takes no report says whose it is.
bool Session::may_be_known(const Event& event) {
  return event.pid != 0 && dispatch_.has_view_for(event);
}

Result<> Session::deliver(View::Span span) {
  pipeline_.observe_end(span.end_ns);
  if (options_.slot_views != nullptr) {
    // What follows is of the whole recording: it did not happen in the last slot.
    options_.slot_views->end(world(), span.end_ns);
  }
  const Observations& observations = world().observations();
  const bool lacks_observations = observations.empty() && observations.skipped() == 0;
  about_ = parse_recording_facts(pipeline_.recording().about_json);  // a pipe has it at its end
  if (lacks_observations && !options_.live) {
    learn_observations(about_);
  }
  losses_.count_logged(about_, clock_, span, world().counted_from_ns());
  draw_logged_losses();
  losses_.doubt_mappings(caveats());
  note_vmstat();
  std::vector<Report> reports;
  for (std::size_t i = 0; i < views_.size(); ++i) {
    auto report = report_of(i, span);
    if (!report.ok()) {
      return report.take_error();
    }
    reports.push_back(report.take());
  }
  interval_.unmatched.next_interval();
  TRY(give_out_lines());
  TRY(readers_.on_reports(std::move(reports)));
  losses_.next_interval();
  interval_.unknown = {};
  return kDone;
}

// The recorder knows better than the records when events were lost.
void Session::draw_logged_losses() {
  if (options_.timeline == nullptr || about_.losses.empty()) {
    return;
  }
  std::vector<Timeline::Loss> losses;
  for (const LossEntry& loss : about_.losses) {
    losses.push_back({.first_ns = loss.first_ns, .last_ns = loss.last_ns, .count = loss.count});
  }
  options_.timeline->set_losses(losses);
}

Result<> Session::give_out_lines() {
  readers_.events_since_lines = 0;
  if (!readers_.on_lines || !options_.view_options.wants_lines()) {
    return kDone;
  }
  const View::Span span = clock_.span();
  for (std::size_t i = 0; i < views_.size(); ++i) {
    Report lines{.view = std::string(options_.views[i]->name)};
    set_times(lines, span);
    lines.tables.push_back(views_[i]->take_lines(world(), span, naming_));
    resolve(lines, report_names_);
    TRY(lines.tables.front().rows.empty() ? Result<>(kDone) : readers_.on_lines(lines));
  }
  return kDone;
}

// In this order: views add what only names show, suppressions look at names, the cut of rows comes
// before the costly names of those that stay, and these may have caveats of their own.
Result<Report> Session::report_of(std::size_t view_index, View::Span span) {
  View& view = *views_[view_index];
  Report report = view.finish(world(), span);
  const SlowStep step("looking up names");
  view.complete(report, naming_);
  report.view = options_.views[view_index]->name;
  set_times(report, span);
  report.origin = origin();
  if (!options_.suppressions.empty()) {
    std::ranges::for_each(report.tables, make_rows);
    options_.suppressions.apply(report, naming_);
  }
  if (!options_.as_made) {
    TRY(arrange(report, options_.arrange, report_names_));
    resolve(report, report_names_);
    if (const double weight = dispatch_.largest_weight(view_index, pipeline_.recording());
        weight > 1) {
      add_error_bars(report, weight);
    }
  }
  caveat_writer().write(view_index, report);
  return report;
}

void Session::set_times(Report& report, View::Span span) const {
  const ClockPair& clock = pipeline_.recording().clock;
  report.start_ns = span.start_ns;
  report.end_ns = span.end_ns;
  report.clock = {.shown = options_.clock,
                  .wall_start_ns = clock.is_known() ? clock.wall_of(span.start_ns) : 0};
}

Origin Session::origin() const {
  const Recording& recording = pipeline_.recording();
  return {.host = recording.host_name,
          .boot_id = options_.live ? boot_id() : about_.boot_id,
          .kernel_release = recording.kernel_release,
          .architecture = recording.architecture,
          .target = about_.target};
}

namespace {

// Whether the view needs only those of the events that a filter lets pass.
bool needs_a_part(const ViewSpec& view, std::string_view event) {
  return std::ranges::any_of(view.parts, [event](const EventNarrowing& part) {
    return part.event == event && !part.filter.empty();
  });
}

}  // namespace

// Whether the kernel passed on only a part of some event because the user asked for that. A view
// that needs only a part of an event lacks nothing.
bool Session::is_filtered_by_user() const {
  const auto& limited = options_.live ? options_.limited : about_.limited;
  const auto is_part = [this](const std::string& event) {
    const auto needs = [&event](const NamedView* view) { return needs_a_part(view->spec, event); };
    return about_.filters.contains(event) || std::ranges::any_of(options_.views, needs);
  };
  return !std::ranges::all_of(limited, is_part);
}

// Whether the views got the events of all that /proc/vmstat counted: of the whole machine, and from
// the start of the recording or interval to its end.
bool Session::has_all_events() const {
  const TimeWindow& window = options_.times.window;
  // The counters of an interval are read a moment after its end.
  const bool has_intervals = options_.live && options_.times.interval_ns != 0;
  const bool is_cut = has_intervals || window.start_ns != 0 ||
                      window.stop_ns != TimeWindow().stop_ns || window.is_of_wall() ||
                      bound_.was_reached();
  const bool is_whole = options_.live ? options_.whole_machine : about_.whole_machine;
  return is_whole && !is_cut && !is_filtered_by_user() && options_.view_options.tasks.empty();
}

void Session::begin_counting() {
  interval_.vmstat = vmstat_counters();
}

void Session::end_counting() {
  interval_.ended_vmstat = vmstat_counters();
}

void Session::note_vmstat() {
  World& world = pipeline_.world();
  world.note_all_events(has_all_events());
  world.note_own_events(about_.own_events);
  if (!options_.live) {
    world.note_vmstat_growth(about_.vmstat);
    return;
  }
  VmstatCounters now = interval_.ended_vmstat.empty() ? vmstat_counters()
                                                      : std::exchange(interval_.ended_vmstat, {});
  world.note_vmstat_growth(growth_of(interval_.vmstat, now));
  interval_.vmstat = std::move(now);
}

CaveatWriter Session::caveat_writer() const {
  return CaveatWriter({.options = options_,
                       .pipeline = pipeline_,
                       .dispatch = dispatch_,
                       .naming = naming_,
                       .about = about_,
                       .losses = losses_,
                       .unknown = interval_.unknown,
                       .unmatched = interval_.unmatched,
                       .bound = bound_,
                       .shown_ns = clock_.span().end_ns - clock_.span().start_ns});
}

bool Session::may_miss_events(const Report& report) const {
  return report.caveats.missing() > 0 || losses_.was_perhaps_before() ||
         !pipeline_.recording().caveats.empty();
}

}  // namespace memtrace
