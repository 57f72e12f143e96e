#include <optional>
#include <utility>

#include "base/log.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/options/shared_options.h"
#include "cli/output/interval_changes.h"
#include "cli/output/interval_lines.h"
#include "cli/output/print.h"
#include "cli/past_kills.h"
#include "cli/probe_rate.h"
#include "observe/host_facts.h"
#include "os/procfs.h"
#include "os/system.h"
#include "os/this_thread.h"
#include "perf/live/live_source.h"
#include "perf/target/target.h"
#include "plan/events/event_narrowing.h"
#include "plan/events/event_selection.h"
#include "plan/events/kernel_counting.h"
#include "programs/unwatched_children.h"
#include "session/session.h"
#include "views/all/all_views.h"

namespace memtrace {
namespace {

constexpr auto kIntervalOptions = std::to_array<Option>({
    {"interval", 0, "TIME", "a report each TIME, in seconds or with a unit; the same as INTERVAL"},
    {"line", 0, "", "one row of totals for each interval, of 1 s unless INTERVAL says so"},
    {"clear", 0, "", "clear the screen before each interval's report"},
    {"since-interval", 0, "", "show what has changed since the interval before"},
    {"output", 0, "FILE", "write the report to FILE, each interval's in place of the one before"},
});

constexpr std::string_view kUsage =
    "[OPTION]... [-a | -p PID,... | -t TID,... | -- COMMAND...] [INTERVAL [COUNT]]";

// "14:03:59  loadavg: 0.23 1.33 1.05", as slabratetop and its like begin each table.
std::string interval_heading() {
  const auto loads = read_file("/proc/loadavg");
  const std::string averages = parse_load_averages(loads.ok() ? loads.value() : "");
  return averages.empty() ? clock_time() : clock_time() + "  loadavg: " + averages;
}

// "1 5": a table each second, five times.
Result<> read_interval(const ParsedOptions& parsed, SessionOptions& session) {
  std::vector<std::string> words = parsed.positional();
  if (parsed.has("interval")) {  // then a word is the count
    words.insert(words.begin(), parsed.text("interval"));
  }
  const Error usage{"'" + (words.empty() ? "" : words.back()) + "'",
                    0,
                    "give an interval in seconds and a count, as in: 1 5; put a command after --",
                    ErrorKind::Usage};
  if (words.size() > 2) {
    return usage;
  }
  if (!words.empty()) {
    const auto interval_ns = parse_duration_ns(words[0]);
    if (!interval_ns || *interval_ns == 0) {
      return usage;
    }
    session.times.interval_ns = *interval_ns;
  }
  if (words.size() == 2) {
    const auto count = parse_number(words[1]);
    if (!count || *count == 0) {
      return usage;
    }
    session.times.interval_count = *count;
  }
  return kDone;
}

struct Shown {
  bool lines = false;                             // --trace
  bool rows = false;                              // --line
  bool clear = false;                             // --clear
  std::optional<DifferenceOptions> changes = {};  // --since-interval
};

struct LivePlan {
  SelectedEvents selected;  // its probes outlive the source
  LiveSetup live;
  SessionOptions session;
  PrintOptions print;
  Shown shown;
  bool may_probe_all = false;  // the code of all processes
};

// All rows of a report are needed: those that are cut off cannot be found again in the next one.
Result<> compare_intervals(LivePlan& plan) {
  if (plan.shown.rows || plan.shown.lines || plan.session.times.interval_ns == 0) {
    return Error{"--since-interval without reports of intervals",
                 0,
                 "give an interval in seconds, and neither --line nor --trace: --since-interval 5",
                 ErrorKind::Usage};
  }
  ArrangeOptions& arrange = plan.session.arrange;
  plan.shown.changes = {.figure = std::exchange(arrange.sort, {}),
                        .top = std::exchange(arrange.top, 0)};
  return kDone;
}

// How the intervals are shown. Error: Usage, what does not go together.
Result<> read_interval_options(const ParsedOptions& parsed, LivePlan& plan) {
  constexpr std::uint64_t kSecondNs = 1'000'000'000;
  plan.shown = {.lines = plan.session.view_options.wants_lines(),
                .rows = parsed.has("line"),
                .clear = parsed.has("clear")};
  if (plan.shown.rows && (plan.shown.clear || plan.shown.lines)) {
    return Error{"--line beside " + std::string(plan.shown.clear ? "--clear" : "--trace"),
                 0,
                 "--line prints a row for each interval, below the one before",
                 ErrorKind::Usage};
  }
  std::uint64_t& interval_ns = plan.session.times.interval_ns;
  if (plan.shown.rows && interval_ns == 0) {
    interval_ns = kSecondNs;
  }
  if (plan.shown.clear && interval_ns == 0) {
    return Error{"--clear without an interval",
                 0,
                 "give an interval in seconds: --clear 1",
                 ErrorKind::Usage};
  }
  return parsed.has("since-interval") ? compare_intervals(plan) : Result<>(kDone);
}

// A view of the kernel's doings watches the whole machine where nothing else is said. One of
// programs wants to know which.
Result<Target> read_live_target(const ParsedOptions& parsed, const NamedView& view) {
  if (has_target(parsed)) {
    return read_target(parsed);
  }
  if (view.spec.of_programs) {
    return Error{
        "nothing to watch",
        0,
        "give one of -p PID, -t TID, or -- COMMAND; --yes-all-processes sets probes on the "
        "code of every process",
        ErrorKind::Usage};
  }
  return Target{.kind = TargetKind::System};
}

bool counts_suffice(const ViewSpec& spec, const ViewOptions& options) {
  return spec.counts_suffice != nullptr && spec.counts_suffice(options);
}

void describe_machine(LivePlan& plan, const NamedView& view) {
  plan.session.limited = filtered_events(plan.selected.requests);
  plan.session.views = {&view};
  plan.session.live = true;
  plan.session.whole_machine = plan.live.target.kind == TargetKind::System;
  plan.session.view_options.migratetypes = migratetype_names();
  plan.session.view_options.slab_caches = slab_caches();
  plan.session.view_options.cpu_nodes = cpu_nodes();
}

// Stacks cost the traced program time: only when they are a key of the report. So do samples.
void ask_for_less(LivePlan& plan, const NamedView& view) {
  if (plan.shown.rows || !shows_stacks(view.spec, plan.session.view_options)) {
    plan.live.call_graph = {.kernel = view.spec.judges_kernel_stacks, .user = false};
  }
  if (counts_suffice(view.spec, plan.session.view_options)) {
    count_in_kernel(plan.selected.requests);
    plan.live.count_interval_ns = plan.session.times.interval_ns;
  }
}

// Error: Usage, a format or an interval that the lines do not have.
Result<> check_shown(LivePlan& plan) {
  TRY(check_printing(plan.print, plan.session.views.front()->name));
  if (plan.shown.rows) {
    TRY(IntervalLines::create(plan.print));
  }
  plan.live.somebody_waits = plan.shown.lines;
  if (!plan.shown.lines) {
    return kDone;
  }
  TRY(LinePrinter::create("--trace", plan.print));
  if (plan.print.one_line) {
    return Error{"--trace has no intervals",
                 0,
                 "it prints each line as it happens; -d SECONDS ends it",
                 ErrorKind::Usage};
  }
  return kDone;
}

// Whose events are recorded unless the user names others.
std::vector<std::string> views_recorded(const ParsedOptions& parsed, const NamedView& view) {
  std::vector<std::string> views = {std::string(view.name)};
  if (parsed.has("trace") && !view.spec.lines_as.empty()) {
    views.emplace_back(view.spec.lines_as);
  }
  return views;
}

Result<LivePlan> read_plan(const ParsedOptions& parsed, const NamedView& view) {
  auto target = read_live_target(parsed, view);
  auto live = read_live_setup(parsed);
  if (!target.ok() || !live.ok()) {
    return target.ok() ? live.take_error() : target.take_error();
  }
  TRY(tasks_of(target.value()));  // before its files are looked at
  auto session = read_session(parsed);
  auto selection = read_selection(parsed);
  if (!session.ok() || !selection.ok()) {
    return session.ok() ? selection.take_error() : session.take_error();
  }
  TRY(read_interval(parsed, session.value()));
  if (selection.value().events.empty()) {
    selection.value().views = views_recorded(parsed, view);
  }
  selection.value().target = target.value();
  auto selected = select_events(selection.value());
  if (!selected.ok()) {
    return selected.take_error();
  }
  LivePlan plan{.selected = selected.take(), .live = live.take(), .session = session.take()};
  plan.live.target = target.take();
  plan.may_probe_all = parsed.has("yes-all-processes");
  read_own_options(parsed, view.spec, plan.session.view_options);
  TRY(read_interval_options(parsed, plan));
  describe_machine(plan, view);
  ask_for_less(plan, view);
  auto print = read_print_options(parsed);
  if (!print.ok()) {
    return print.take_error();
  }
  plan.print = print.take();
  plan.print.one_line = plan.session.times.interval_ns != 0;
  plan.print.one_screen = plan.shown.clear;
  TRY(check_shown(plan));
  return plan;
}

Result<> print_stamped(const Report& report, PrintOptions print) {
  print.heading = interval_heading() + "  ";
  TRY(print_report(report, print));
  return print.one_screen ? Result<>(kDone) : print_text("\n", print.stop_signals);
}

Result<> print_rows(Session& session, const PrintOptions& print) {
  auto rows = IntervalLines::create(print);
  if (!rows.ok()) {
    return rows.take_error();
  }
  TRY(session.run(
      [&rows](std::vector<Report> reports) { return rows.value().print(reports.front()); }));
  return rows.value().end();
}

Result<> print_lines(Session& session, const PrintOptions& print) {
  auto lines = LinePrinter::create("--trace", print);
  if (!lines.ok()) {
    return lines.take_error();
  }
  return session.run(
      [&lines](std::vector<Report> reports) { return lines.value().end(reports.front()); },
      [&lines](const Report& made) { return lines.value().print(made); });
}

// Lines as they happen, a row for each interval, or reports.
Result<> print_session(Session& session, const PrintOptions& print, const Shown& shown) {
  if (shown.rows) {
    return print_rows(session, print);
  }
  if (shown.lines) {
    return print_lines(session, print);
  }
  const bool stamps = print.one_line && print.format == "text" && print.output.empty();
  std::optional<IntervalChanges> changes;
  if (shown.changes) {
    changes.emplace(*shown.changes);
  }
  return session.run([&print, &shown, &changes, stamps](std::vector<Report> reports) -> Result<> {
    TRY(shown.clear ? clear_screen() : Result<>(kDone));
    Result<Report> report = std::move(reports.front());
    if (changes) {
      report = changes->since_last(report.take());
    }
    if (!report.ok()) {
      return report.take_error();
    }
    return stamps ? print_stamped(report.value(), print) : print_report(report.value(), print);
  });
}

// `signals` lives until the plan's probes are gone: a second signal must not leave them behind.
Result<ExitStatus> run_plan(LivePlan plan, StopSignals& signals, ReadyNotice& ready) {
  plan.live.stop_signals = &signals;
  plan.live.ready = &ready;
  if (const auto sentence = without_memory(plan.live.target); !sentence.empty()) {
    warn(sentence);
  }
  if (const auto children = unwatched_children(plan.live.target); !children.empty()) {
    warn(children);
  }
  TRY(ask_for_all_processes(
      plan.live.target,
      plan.selected.requests,
      {.is_wanted = plan.may_probe_all, .is_limited = plan.live.max_overhead > 0}));
  plan.print.stop_signals = &signals;
  auto source = LiveSource::open(plan.live, plan.selected);
  if (!source.ok()) {
    return source.take_error();
  }
  plan.session.probes = &source.value()->events();
  auto session = Session::create(*source.value(), std::move(plan.session));
  if (!session.ok()) {
    return session.take_error();
  }
  session.value()->identify_processes(*source.value());
  source.value()->set_around([&session] { session.value()->begin_counting(); },
                             [&session] { session.value()->end_counting(); });
  TRY(source.value()->start());
  session.value()->identify_new_processes(*source.value());
  source.value()->announce_ready();
  TRY(print_session(*session.value(), plan.print, plan.shown));
  source.value()->wait_until_closed();
  return exit_status_of(source.value()->end_command());
}

}  // namespace

std::vector<Option> live_view_options(std::string_view name) {
  auto all = joined({target_options(),
                     event_options(),
                     stack_options(),
                     report_options(),
                     std::span<const Option>(kIntervalOptions)});
  const auto own = view_own_options(find_view(name)->spec);
  all.insert(all.end(), own.begin(), own.end());
  all.insert(all.end(), help_option().begin(), help_option().end());
  return all;
}

Result<ExitStatus> run_live_view(std::string_view name, const std::vector<std::string>& arguments) {
  const NamedView& view = *find_view(name);
  const auto known = live_view_options(name);
  auto parsed = parse_options(known, arguments);
  if (!parsed.ok()) {
    return parsed.take_error();
  }
  if (parsed.value().has("help")) {
    TRY(print_text(usage_text(name, kUsage, view.spec.summary, known)));
    return 0;
  }
  if (parsed.value().has("past")) {
    return name == "failures" ? print_past_failures(parsed.value())
                              : print_past_kills(parsed.value());
  }
  hurry_main_thread();
  StopSignals signals;  // before the first probe is defined
  auto ready = ReadyNotice::from_environment();
  if (!ready.ok()) {
    return ready.take_error();
  }
  auto plan = read_plan(parsed.value(), view);
  return plan.ok() ? run_plan(plan.take(), signals, ready.value())
                   : Result<ExitStatus>(plan.take_error());
}

}  // namespace memtrace
