// memtrace top: the live panes of src/cli/top, full screen or as text.
#include <algorithm>
#include <array>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>

#include "base/log.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/command.h"
#include "cli/options/shared_options.h"
#include "cli/output/print.h"
#include "cli/top/top_screen.h"
#include "cli/top/watched_source.h"
#include "observe/host_facts.h"
#include "os/ready_notice.h"
#include "os/stop_signals.h"
#include "os/this_thread.h"
#include "perf/live/live_source.h"
#include "perf/target/target.h"
#include "plan/events/event_narrowing.h"
#include "plan/events/event_selection.h"
#include "programs/unwatched_children.h"
#include "session/session.h"
#include "views/all/all_views.h"

namespace memtrace::top_command {
namespace {

constexpr auto kOwnOptions = std::to_array<Option>({
    {"delay", 'd', "SECONDS", "time between two screens (default 1)"},
    {"count", 'n', "N", "end after N screens"},
    {"batch", 'b', "", "print each interval's rows as text, without a terminal"},
    {"pane", 0, "NAME", "the pane to begin with: processes, stacks, slab, faults, reclaim, heap"},
    {"heap", 0, "", "with -p: probe the allocators of these processes, and show their heap"},
    {"sort", 0, "COLUMN", "sort this pane by the column, largest first"},
    {"live", 0, "", "what is live in place of rates"},
    {"top", 0, "N", "with --batch, print N rows (default 20); 0 prints all"},
});

constexpr std::uint64_t kSecondNs = 1'000'000'000;
constexpr std::uint64_t kDefaultRows = 20;

// Those of the table that have these names.
std::vector<Option> picked(std::span<const Option> table, std::span<const std::string_view> names) {
  std::vector<Option> options;
  std::ranges::copy_if(table, std::back_inserter(options), [names](const Option& option) {
    return std::ranges::find(names, option.name) != names.end();
  });
  return options;
}

std::vector<Option> options() {
  constexpr auto kTarget = std::to_array<std::string_view>({"all-cpus", "pid", "tid"});
  constexpr auto kEvents =
      std::to_array<std::string_view>({"call-graph", "period", "ring-size", "max-memory"});
  constexpr auto kReport = std::to_array<std::string_view>({"comm", "uid", "cgroup", "width"});
  return joined({picked(target_options(), kTarget),
                 kOwnOptions,
                 picked(event_options(), kEvents),
                 picked(report_options(), kReport),
                 help_option()});
}

struct TopPlan {
  SelectedEvents selected;  // its probes outlive the source
  LiveSetup live;
  SessionOptions session;
  TopScreen::Setup screen;
  bool batch = false;
};

Result<std::size_t> read_pane(const ParsedOptions& parsed, std::size_t pane_count) {
  const std::string name = parsed.text("pane", all_panes().front().name);
  std::vector<std::string> names;
  for (std::size_t i = 0; i < pane_count; ++i) {
    if (all_panes()[i].name == name) {
      return i;
    }
    names.emplace_back(all_panes()[i].name);
  }
  const bool is_heap = name == all_panes().back().name;
  return Error{"--pane " + name + ": there is no such pane",
               0,
               is_heap ? "it needs -p PID --heap" : "panes are " + join(names, ", "),
               ErrorKind::Usage};
}

Result<> read_times(const ParsedOptions& parsed, TopPlan& plan) {
  const auto delay_ns = parsed.duration_ns("delay", kSecondNs);
  const auto count = parsed.number("count", 0);
  if (!delay_ns.ok() || !count.ok()) {
    return delay_ns.ok() ? count.error() : delay_ns.error();
  }
  constexpr std::uint64_t kLeastNs = kSecondNs / 10;
  if (delay_ns.value() < kLeastNs) {
    return Error{"--delay " + parsed.text("delay"), 0, "the least is 0.1", ErrorKind::Usage};
  }
  if (parsed.has("count") && count.value() == 0) {
    return Error{"--count 0", 0, "takes a number from 1 on", ErrorKind::Usage};
  }
  plan.session.times.interval_ns = delay_ns.value();
  plan.session.times.interval_count = count.value();
  plan.screen.state.interval = print_duration(delay_ns.value());
  return kDone;
}

// Error: Usage, options that do not go together, or a command: its output and the screen would mix.
Result<> check_words(const ParsedOptions& parsed) {
  if (!parsed.positional().empty() || !parsed.command().empty()) {
    const auto& words = parsed.command().empty() ? parsed.positional() : parsed.command();
    return Error{"'" + words.front() + "'",
                 0,
                 "memtrace top starts no command and takes no words: start the command elsewhere, "
                 "and give -p PID",
                 ErrorKind::Usage};
  }
  return kDone;
}

// Of --batch, with the two lines above the rows. 0 rows: all of them.
ScreenSize text_size(std::size_t columns, std::uint64_t rows) {
  constexpr std::size_t kLinesAbove = 2;
  constexpr std::uint64_t kAllRows = 1'000'000;
  const std::uint64_t shown = rows == 0 ? kAllRows : std::min(rows, kAllRows);
  return {.columns = output_columns(columns), .lines = kLinesAbove + shown};
}

// Error: Usage, without processes: probes would slow down every program.
Result<> read_heap(const ParsedOptions& parsed, TopPlan& plan) {
  const bool wants_heap = parsed.has("heap");
  if (wants_heap && plan.live.target.kind != TargetKind::Processes) {
    return Error{"--heap without processes", 0, "give -p PID", ErrorKind::Usage};
  }
  if (!wants_heap && parsed.has("call-graph")) {
    return Error{"--call-graph without --heap",
                 0,
                 "only the pane of the heap shows stacks of user code",
                 ErrorKind::Usage};
  }
  plan.screen.state.panes.resize(wants_heap ? all_panes().size() : kPanesWithoutHeap);
  return kDone;
}

Result<> read_screen(const ParsedOptions& parsed, TopPlan& plan) {
  const auto pane = read_pane(parsed, plan.screen.state.panes.size());
  const auto rows = parsed.number("top", kDefaultRows);
  const auto print = read_print_options(parsed);
  if (!pane.ok()) {
    return pane.error();
  }
  if (!rows.ok() || !print.ok()) {
    return rows.ok() ? print.error() : rows.error();
  }
  plan.batch = parsed.has("batch");
  plan.screen.state.pane = pane.value();
  plan.screen.state.live = parsed.has("live");
  plan.screen.text_size = text_size(print.value().columns, rows.value());
  return parsed.has("sort") ? sort_by(plan.screen.state, parsed.text("sort")) : Result<>(kDone);
}

// All panes' views side by side. Stacks of user code would cost the traced programs more than all
// else: only the heap has them.
Result<> choose_events(const ParsedOptions& parsed, TopPlan& plan) {
  auto selection = read_selection(parsed);
  if (!selection.ok()) {
    return selection.take_error();
  }
  selection.value().target = plan.live.target;
  selection.value().views = {"kmalloc", "pages", "slab", "faults"};
  selection.value().views_if_possible = {"vmscan", "swapin"};
  if (plan.screen.state.has_heap()) {
    selection.value().views.insert(selection.value().views.end(), {"malloc", "leaks"});
  }
  auto selected = select_events(selection.value());
  if (!selected.ok()) {
    return selected.take_error();
  }
  plan.selected = selected.take();
  for (EventRequest& request : plan.selected.requests) {
    request.user_stack = request.on_user_code;
  }
  plan.live.somebody_waits = true;
  return kDone;
}

void describe_session(TopPlan& plan) {
  SessionOptions& session = plan.session;
  for (const PaneQuery& query : pane_queries(plan.screen.state.has_heap())) {
    session.views.push_back(find_view(query.view));
    session.choices.push_back({.by = {query.by.begin(), query.by.end()}});
  }
  session.as_made = true;
  session.live = true;
  session.limited = filtered_events(plan.selected.requests);
  session.whole_machine = plan.live.target.kind == TargetKind::System;
  session.view_options.migratetypes = migratetype_names();
  session.view_options.slab_caches = slab_caches();
  session.view_options.cpu_nodes = cpu_nodes();
}

Result<Target> read_top_target(const ParsedOptions& parsed) {
  return has_target(parsed) ? read_target(parsed)
                            : Result<Target>(Target{.kind = TargetKind::System});
}

Result<TopPlan> read_plan(const ParsedOptions& parsed) {
  TRY(check_words(parsed));
  auto target = read_top_target(parsed);
  auto live = read_live_setup(parsed);
  auto session = read_session(parsed);
  if (!target.ok()) {
    return target.take_error();
  }
  if (!live.ok() || !session.ok()) {
    return live.ok() ? session.take_error() : live.take_error();
  }
  TopPlan plan{.live = live.take(), .session = session.take()};
  TRY(tasks_of(target.value()));
  plan.live.target = target.take();
  plan.screen.state.target = describe_target(plan.live.target);
  if (plan.live.target.kind == TargetKind::Processes) {
    plan.screen.pids = plan.live.target.ids;
  }
  TRY(read_times(parsed, plan));
  TRY(read_heap(parsed, plan));
  TRY(read_screen(parsed, plan));
  TRY(choose_events(parsed, plan));
  describe_session(plan);
  return plan;
}

Result<> run_session(LiveSource& source, SessionOptions options, TopScreen& screen) {
  WatchedSource watched(source, [&source, &screen]() -> Result<> {
    if (!screen.look()) {
      source.stop(0);
    }
    return kDone;
  });
  options.probes = &source.events();
  auto session = Session::create(watched, std::move(options));
  if (!session.ok()) {
    return session.take_error();
  }
  session.value()->identify_processes(source);
  TRY(source.start());
  session.value()->identify_new_processes(source);
  source.announce_ready();
  return session.value()->run([&screen, &session](std::vector<Report> reports) {
    return screen.show(std::move(reports), session.value()->namer());
  });
}

// `signals` lives until the events are gone.
Result<ExitStatus> run_plan(TopPlan plan, StopSignals& signals, ReadyNotice& ready) {
  plan.live.stop_signals = &signals;
  plan.live.ready = &ready;
  std::unique_ptr<TopTerminal> terminal;
  if (!plan.batch) {
    auto opened = TopTerminal::open();
    if (!opened.ok()) {
      return opened.take_error();
    }
    terminal = opened.take();
  }
  if (const auto children = unwatched_children(plan.live.target); !children.empty()) {
    warn(children);
  }
  plan.screen.terminal = terminal.get();
  plan.screen.print = [&signals](const std::string& text) { return print_text(text, &signals); };
  TopScreen screen(std::move(plan.screen));
  auto source = LiveSource::open(plan.live, plan.selected);
  if (!source.ok()) {
    return source.take_error();
  }
  TRY(run_session(*source.value(), std::move(plan.session), screen));
  terminal.reset();  // the user need not wait for what follows
  source.value()->wait_until_closed();
  return 0;
}

Result<ExitStatus> run(const std::vector<std::string>& arguments) {
  const auto known = options();
  auto parsed = parse_options(known, arguments);
  if (!parsed.ok()) {
    return parsed.take_error();
  }
  if (parsed.value().has("help")) {
    TRY(print_text(usage_text("top", command_top.usage, command_top.summary, known)));
    return 0;
  }
  hurry_main_thread();
  StopSignals signals;
  auto ready = ReadyNotice::from_environment();
  if (!ready.ok()) {
    return ready.take_error();
  }
  auto plan = read_plan(parsed.value());
  return plan.ok() ? run_plan(plan.take(), signals, ready.value())
                   : Result<ExitStatus>(plan.take_error());
}

}  // namespace
}  // namespace memtrace::top_command

namespace memtrace {

const Command command_top{
    .name = "top",
    .usage = "[OPTION]... [-a | -p PID,... | -t TID,...]",
    .summary = "Shows who uses memory now, full screen: processes, stacks, slab, faults, reclaim.",
    .options = top_command::options,
    .run = top_command::run,
};

}  // namespace memtrace
