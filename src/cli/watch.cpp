#include <fmt/core.h>

#include <algorithm>

#include "base/log.h"
#include "base/units.h"
#include "cli/command.h"
#include "cli/options/call_graph_option.h"
#include "cli/options/shared_options.h"
#include "cli/output/print.h"
#include "cli/probe_rate.h"
#include "cli/view_groups.h"
#include "os/this_thread.h"
#include "perf/live/live_source.h"
#include "perf/target/target.h"
#include "plan/events/event_selection.h"
#include "watch/trigger.h"
#include "watch/watcher.h"

namespace memtrace::watch_command {
namespace {

constexpr std::size_t kLeastRingBytes = std::size_t{4} << 20;
constexpr std::size_t kQueueBytes = std::size_t{16} << 20;  // of events that wait to be sorted
// Of each CPU: a second of 5,000 events with their stacks.
constexpr std::size_t kKernelRingBytes = std::size_t{2} << 20;
constexpr std::size_t kLeastKernelRingBytes = std::size_t{64} << 10;

constexpr auto kOwnOptions = std::to_array<Option>({
    {"on", 0, "TRIGGER,...", "write a file when one of these happens (default oom)"},
    {"before", 0, "TIME", "what a file holds before that moment (default 60s)"},
    {"after", 0, "TIME", "and after it (default 10s)"},
    {"output", 'o', "PREFIX", "a folder, or the first part of the files' names"},
    {"keep", 0, "N", "keep the newest N files, and remove older ones (default 20; 0 keeps all)"},
    {"for", 0, "VIEW,...", "record the events that these views need (default oom,reclaim,growth)"},
    {"max-memory", 0, "SIZE", "memory for the events before that moment (default 32M)"},
    {"call-graph",
     0,
     "fp|dwarf[,BYTES]|none",
     "user stacks by frame pointers (default), or unwound from BYTES copied of each stack, or no "
     "stacks"},
    {"ring-size", 'm', "SIZE", "memory for each CPU's ring (default 2M)"},
});

std::vector<Option> options() {
  return joined({target_options(), kOwnOptions, help_option()});
}

// Unless they are said, the events that cost little and answer who grew, who waited and who was
// killed.
Result<> choose_events(const ParsedOptions& parsed,
                       const std::vector<Trigger>& triggers,
                       EventSelection& selection) {
  const auto views = choose_views(parsed.list("for"));
  if (!views.ok()) {
    return views.error();
  }
  selection.views = views.value().named;
  selection.views_if_possible = views.value().if_possible;
  if (!parsed.has("for")) {
    selection.views_if_possible = {"oom", "reclaim", "growth"};
  }
  for (const Trigger& trigger : triggers) {
    const std::string view = trigger.view();
    if (!view.empty() && std::ranges::find(selection.views, view) == selection.views.end()) {
      selection.views.push_back(view);
    }
  }
  return kDone;
}

Error refused(const ParsedOptions& parsed, const std::string& name, const std::string& hint) {
  return {"--" + name + " " + parsed.text(name), 0, hint, ErrorKind::Usage};
}

Result<LiveSetup> read_live(const ParsedOptions& parsed) {
  const auto duration = parsed.duration_ns("duration", 0);
  const auto ring = parsed.bytes("ring-size", kKernelRingBytes);
  const auto call_graph = read_call_graph(parsed);
  if (!duration.ok() || !ring.ok()) {
    return duration.ok() ? ring.error() : duration.error();
  }
  if (!call_graph.ok()) {
    return call_graph.error();
  }
  if (ring.value() < kLeastKernelRingBytes) {
    return refused(parsed, "ring-size", "the least is " + print_bytes(kLeastKernelRingBytes));
  }
  return LiveSetup{.call_graph = parsed.has("call-graph") ? call_graph.value() : CallGraph{},
                   .ring_bytes = ring.value(),
                   .is_patient = true,
                   .queue_bytes = kQueueBytes,
                   .duration_ns = duration.value()};
}

// Times, sizes and names.
Result<> read_limits(const ParsedOptions& parsed, WatchOptions& watch) {
  const auto before = parsed.duration_ns("before", watch.before_ns);
  const auto after = parsed.duration_ns("after", watch.after_ns);
  const auto keep = parsed.number("keep", watch.keep);
  const auto memory = parsed.bytes("max-memory", kWatchDefaultBytes);
  for (const auto* number : {&before, &after, &keep, &memory}) {
    if (!number->ok()) {
      return number->error();
    }
  }
  if (before.value() == 0) {
    return refused(parsed, "before", "takes a time: 60s");
  }
  if (memory.value() < kLeastRingBytes) {
    return refused(parsed, "max-memory", "the least is " + print_bytes(kLeastRingBytes));
  }
  watch.before_ns = before.value();
  watch.after_ns = after.value();
  watch.keep = keep.value();
  watch.ring_bytes = memory.value();
  watch.most_bytes = watch.ring_bytes + kWatchOverheadBytes;
  watch.output = parsed.text("output");
  return kDone;
}

Result<WatchOptions> read_options(const ParsedOptions& parsed,
                                  const std::vector<std::string>& arguments) {
  auto triggers =
      parse_triggers(parsed.has("on") ? parsed.list("on") : std::vector<std::string>{"oom"});
  if (!triggers.ok()) {
    return triggers.take_error();
  }
  auto target = has_target(parsed) ? read_target(parsed) : Target{.kind = TargetKind::System};
  auto live = read_live(parsed);
  if (!target.ok() || !live.ok()) {
    return target.ok() ? live.take_error() : target.take_error();
  }
  TRY(tasks_of(target.value()));
  EventSelection selection{.target = target.value()};
  TRY(choose_events(parsed, triggers.value(), selection));
  auto selected = select_events(selection);
  if (!selected.ok()) {
    return selected.take_error();
  }
  WatchOptions watch{.live = live.take(),
                     .selected = selected.take(),
                     .triggers = triggers.take(),
                     .command_line = {"memtrace", "watch"},
                     .target_text = describe_target(target.value())};
  TRY(read_limits(parsed, watch));
  // Looking at the rings every 5 ms, for what /proc says of a victim, takes most of the CPU time.
  // The event and the kernel's log have it, too.
  watch.selected.is_prompt = false;
  watch.live.target = target.take();
  watch.command_line.insert(watch.command_line.end(), arguments.begin(), arguments.end());
  return watch;
}

Result<ExitStatus> run(const std::vector<std::string>& arguments) {
  auto parsed = parse_options(options(), arguments);
  if (!parsed.ok()) {
    return parsed.take_error();
  }
  if (parsed.value().has("help")) {
    TRY(print_text(usage_text("watch", command_watch.usage, command_watch.summary, options())));
    return 0;
  }
  if (!parsed.value().positional().empty() || !parsed.value().command().empty()) {
    return Error{"memtrace watch runs no command",
                 0,
                 "name triggers with --on, as in: memtrace watch --on oom,'available<5%'",
                 ErrorKind::Usage};
  }
  hurry_main_thread();
  StopSignals signals;
  signals.let_user_request();
  auto ready = ReadyNotice::from_environment();
  if (!ready.ok()) {
    return ready.take_error();
  }
  auto watched = read_options(parsed.value(), arguments);
  if (!watched.ok()) {
    return watched.take_error();
  }
  watched.value().live.stop_signals = &signals;
  watched.value().live.ready = &ready.value();
  TRY(ask_for_all_processes(watched.value().live.target,
                            watched.value().selected.requests,
                            {.is_wanted = parsed.value().has("yes-all-processes"),
                             .is_limited = watched.value().live.max_overhead > 0}));
  const auto written = watch(watched.take());
  if (!written.ok()) {
    return written.error();
  }
  inform(counted(written.value(), "file was written", "files were written"));
  return 0;
}

}  // namespace
}  // namespace memtrace::watch_command

namespace memtrace {

const Command command_watch{
    .name = "watch",
    .usage = "[OPTION]... [--on TRIGGER,...] [-a | -p PID,... | -t TID,...]",
    .summary = "Records into memory, and writes a file of what was before when something happens.",
    .options = watch_command::options,
    .run = watch_command::run,
};

}  // namespace memtrace
