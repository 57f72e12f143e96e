#include <fmt/core.h>

#include <filesystem>

#include "base/log.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/command.h"
#include "cli/options/shared_options.h"
#include "cli/output/print.h"
#include "cli/probe_rate.h"
#include "cli/view_groups.h"
#include "identity/process_search.h"
#include "os/this_thread.h"
#include "perf/live/live_source.h"
#include "perf/target/target.h"
#include "plan/events/event_selection.h"
#include "programs/unwatched_children.h"
#include "recording/record_plan.h"
#include "recording/recorder.h"

namespace memtrace::record_command {
namespace {

constexpr auto kOwnOptions = std::to_array<Option>({
    {"for",
     0,
     "VIEW,...",
     "record the events that these views need; all and kernel are those of all views, and of the "
     "kernel's"},
    {"uid",
     0,
     "UID|NAME,...",
     "the processes of these users that run by now, and the children they start"},
    {"cgroup",
     0,
     "TEXT,...",
     "the processes whose cgroup's path contains one of these texts, and the children they start"},
    {"comm", 0, "NAME,...", "only threads with these names, tested in the kernel: 'php*'"},
    {"output", 'o', "FILE", "write to FILE (default memtrace.data); - writes to a pipe"},
    {"compression-level", 'z', "[=LEVEL]", "compress at a level from 1 (default, fastest) to 22"},
    {"no-compress", 0, "", "do not compress the file: for perf before 5.10 and other programs"},
    {"max-size", 0, "SIZE", "go on in a new file, FILE.0002, when one has this size: 2G"},
    {"max-time", 0, "TIME", "go on in a new file after this time: 10m"},
    {"keep", 0, "N", "keep the newest N files, and remove older ones of this recording"},
    {"min-bytes", 0, "BYTES", "only heap allocations of at least this size"},
    {"max-bytes", 0, "BYTES", "only heap allocations of at most this size"},
    {"dry-run", 0, "", "show what would be recorded, and the perf command for it; record nothing"},
    {"no-symbols", 0, "", "do not store the names of the addresses in the file"},
});

std::vector<Option> options() {
  return joined({target_options(), event_options(), stack_options(), kOwnOptions, help_option()});
}

std::uint64_t missing_from(const RecordSummary& summary) {
  return summary.lost + summary.dropped + summary.late + summary.malformed + summary.disk_full;
}

std::string loss_text(const RecordSummary& summary) {
  const std::uint64_t all = missing_from(summary);
  if (all == 0) {
    return "none lost";
  }
  std::string text =
      fmt::format("{} LOST ({} by the kernel, {} dropped by memtrace, {} not written: disk full",
                  all,
                  summary.lost,
                  summary.dropped,
                  summary.disk_full);
  if (summary.late > 0) {
    text += fmt::format(", {} came too late", summary.late);
  }
  if (summary.malformed > 0) {
    text += fmt::format(", {} could not be read", summary.malformed);
  }
  return text + ")";
}

ExitStatus tell(const RecordSummary& summary, const std::string& output) {
  for (const std::string& note : summary.notes) {
    warn(note);
  }
  if (summary.cut_stacks > 0) {
    warn(counted(summary.cut_stacks, "stack was", "stacks were") +
         " cut short: memtrace fell behind");
  }
  const std::uint64_t samples = summary.samples - summary.disk_full;
  const std::string removed =
      summary.removed_files == 0
          ? ""
          : " and " + counted(summary.removed_files, "older file", "older files") +
                " that --keep has removed";
  inform(fmt::format("{} {}, {}, {} in {}{}",
                     samples,
                     samples == 1 ? "event" : "events",
                     loss_text(summary),
                     print_bytes(summary.bytes),
                     output == "-" ? "a pipe" : summary.files,
                     removed));
  if (summary.samples + missing_from(summary) == 0 && !summary.notes_say_why) {
    inform(
        "hint: none of the events happened in the target: record for longer, or choose other "
        "events with --for VIEW or -e EVENT");
  }
  if (summary.lost > 0) {
    inform("hint: to lose less, use a larger --ring-size, fewer events, a --filter or --period N");
  }
  if (summary.disk_full > 0) {
    inform(
        "hint: make room, or write to another disk with -o FILE; the events in the file are "
        "intact");
  }
  const ExitStatus own_status = summary.disk_full > 0 ? 1 : 0;
  if (!summary.command_status || *summary.command_status == 0) {
    return own_status;
  }
  return exit_status_of(summary.command_status);
}

// Any program may read a pipe or device, also one that cannot decompress.
bool is_stream(const std::string& output) {
  std::error_code error;
  const auto status = std::filesystem::status(output, error);
  return output == "-" || (std::filesystem::exists(status) && !is_regular_file(status));
}

// As perf record has it: -z alone is the fastest.
Result<int> read_compression_level(const ParsedOptions& parsed, const std::string& output) {
  constexpr std::uint64_t kSmallest = 22;
  if (parsed.has("no-compress") && parsed.has("compression-level")) {
    return Error{"--no-compress and --compression-level", 0, "give one of them", ErrorKind::Usage};
  }
  if (!parsed.has("compression-level")) {
    return parsed.has("no-compress") || is_stream(output) ? 0 : 1;
  }
  const std::string text = parsed.text("compression-level");
  const auto level = parse_number(text);  // "1" when it was left out
  if (!level || *level > kSmallest) {
    return Error{"--compression-level=" + text,
                 0,
                 "levels are 1, the fastest, to 22; 0 does not compress: -z3",
                 ErrorKind::Usage};
  }
  return static_cast<int>(*level);
}

// Smaller files would hold little more than the state that each begins with.
constexpr std::uint64_t kLeastFileBytes = std::uint64_t{64} << 10;
constexpr std::uint64_t kLeastFileNs = 100'000'000;

Result<RotationOptions> read_rotation(const ParsedOptions& parsed, const std::string& output) {
  const auto bytes = parsed.bytes("max-size", 0);
  const auto time_ns = parsed.duration_ns("max-time", 0);
  const auto keep = parsed.number("keep", 0);
  if (!bytes.ok()) {
    return bytes.error();
  }
  if (!time_ns.ok() || !keep.ok()) {
    return time_ns.ok() ? keep.error() : time_ns.error();
  }
  const auto refused = [&parsed](const std::string& name, const char* hint) {
    return Error{"--" + name + " " + parsed.text(name), 0, hint, ErrorKind::Usage};
  };
  if (parsed.has("max-size") && bytes.value() < kLeastFileBytes) {
    return refused("max-size", "the smallest size is 64K");
  }
  if (parsed.has("max-time") && time_ns.value() < kLeastFileNs) {
    return refused("max-time", "the shortest time is 100ms");
  }
  if (parsed.has("keep") && keep.value() == 0) {
    return refused("keep", "keep at least 1 file");
  }
  const RotationOptions rotation{
      .is_wanted = parsed.has("max-size") || parsed.has("max-time") || parsed.has("keep"),
      .max_bytes = bytes.value(),
      .max_ns = time_ns.value(),
      .keep = keep.value()};
  if (rotation.is_wanted && (output == "-" || output.ends_with('/'))) {
    return refused("output",
                   "--max-size, --max-time and --keep make several files: give the first part of "
                   "their names");
  }
  return rotation;
}

// As perf record -u: the kernel opens events for tasks, not for users.
Result<Target> read_search(const ParsedOptions& parsed) {
  for (const char* other : {"all-cpus", "yes-all-processes", "pid", "tid"}) {
    if (parsed.has(other)) {
      return Error{"more than one thing to watch",
                   0,
                   "give --uid and --cgroup without -a, -p and -t; reports of a recording of the "
                   "whole machine take --uid and --cgroup, too",
                   ErrorKind::Usage};
    }
  }
  auto found = find_processes({.users = parsed.list("uid"), .cgroups = parsed.list("cgroup")},
                              RunningProcesses::now());
  if (!found.ok()) {
    return found.take_error();
  }
  return Target{.kind = TargetKind::Processes,
                .ids = found.take(),
                .command = parsed.command(),
                .may_have_ended = true,
                .keep_aslr = parsed.has("keep-aslr")};
}

bool is_search(const ParsedOptions& parsed) {
  return parsed.has("uid") || parsed.has("cgroup");
}

std::string describe_target_of(const ParsedOptions& parsed, const Target& target) {
  if (!is_search(parsed)) {
    return describe_target(target);
  }
  const auto part = [&parsed](const char* option, const std::string& name) {
    return parsed.has(option) ? " " + name + " " + join(parsed.list(option), ", ") : "";
  };
  return counted(target.ids.size(), "process", "processes") + part("uid", "of user") +
         part("cgroup", "in cgroup");
}

Result<RecordOptions> read_options(const ParsedOptions& parsed,
                                   const std::vector<std::string>& arguments) {
  auto target = is_search(parsed) ? read_search(parsed) : read_target(parsed);
  auto live = read_live_setup(parsed);
  if (!target.ok() || !live.ok()) {
    return target.ok() ? live.take_error() : target.take_error();
  }
  if (!parsed.has("dry-run")) {
    TRY(tasks_of(target.value()));  // before its files are looked at
  }
  auto selection = read_selection(parsed);
  if (!selection.ok()) {
    return selection.take_error();
  }
  auto views = choose_views(parsed.list("for"));
  if (!views.ok()) {
    return views.take_error();
  }
  selection.value().views = views.value().named;
  selection.value().views_if_possible = views.value().if_possible;
  const std::string output = parsed.text("output", "memtrace.data");
  const auto zstd_level = read_compression_level(parsed, output);
  if (!zstd_level.ok()) {
    return zstd_level.error();
  }
  const auto rotation = read_rotation(parsed, output);
  if (!rotation.ok()) {
    return rotation.error();
  }
  selection.value().target = target.value();
  selection.value().comms = parsed.list("comm");
  selection.value().plan_only = parsed.has("dry-run");
  auto selected = select_events(selection.value());
  if (!selected.ok()) {
    return selected.take_error();
  }
  RecordOptions options{.live = live.take(),
                        .selected = selected.take(),
                        .output = output,
                        .zstd_level = zstd_level.value(),
                        .embed_symbols = !parsed.has("no-symbols"),
                        .rotation = rotation.value(),
                        .command_line = {"memtrace", "record"},
                        .target_text = describe_target_of(parsed, target.value())};
  options.live.target = target.take();
  options.live.target.output_taken = output == "-";
  options.command_line.insert(options.command_line.end(), arguments.begin(), arguments.end());
  return options;
}

Result<ExitStatus> show_plan(const ParsedOptions& parsed,
                             const std::vector<std::string>& arguments) {
  const auto planned = read_options(parsed, arguments);
  if (!planned.ok()) {
    return planned.error();
  }
  const auto views = choose_views(parsed.list("for"));
  const auto plan = describe_plan(planned.value(), views.value().all());
  if (!plan.ok()) {
    return plan.error();
  }
  TRY(print_text(plan.value()));
  return 0;
}

Result<ExitStatus> run(const std::vector<std::string>& arguments) {
  auto parsed = parse_options(options(), arguments);
  if (!parsed.ok()) {
    return parsed.take_error();
  }
  if (parsed.value().has("help")) {
    TRY(print_text(usage_text("record", command_record.usage, command_record.summary, options())));
    return 0;
  }
  if (!parsed.value().positional().empty()) {
    return Error{"'" + parsed.value().positional().front() + "'",
                 0,
                 "put the command after --, as in: memtrace record -- make",
                 ErrorKind::Usage};
  }
  if (parsed.value().has("dry-run")) {
    return show_plan(parsed.value(), arguments);
  }
  hurry_main_thread();
  StopSignals signals;
  auto ready = ReadyNotice::from_environment();
  if (!ready.ok()) {
    return ready.take_error();
  }
  auto record_options = read_options(parsed.value(), arguments);
  if (!record_options.ok()) {
    return record_options.take_error();
  }
  record_options.value().live.stop_signals = &signals;
  if (record_options.value().rotation.is_wanted) {
    signals.let_user_request();
  }
  record_options.value().live.ready = &ready.value();
  if (const auto sentence = without_memory(record_options.value().live.target); !sentence.empty()) {
    warn(sentence);
  }
  if (const auto children = unwatched_children(record_options.value().live.target);
      !children.empty()) {
    warn(children);
  }
  TRY(ask_for_all_processes(record_options.value().live.target,
                            record_options.value().selected.requests,
                            {.is_wanted = parsed.value().has("yes-all-processes"),
                             .is_limited = record_options.value().live.max_overhead > 0}));
  const std::string output = record_options.value().output;
  auto summary = record(record_options.take());
  if (!summary.ok()) {
    return summary.take_error();
  }
  return tell(summary.value(), output);
}

}  // namespace
}  // namespace memtrace::record_command

namespace memtrace {

const Command command_record{
    .name = "record",
    .usage =
        "[OPTION]... [-a | -p PID,... | -t TID,... | --uid UID,... | --cgroup TEXT,... | -- "
        "COMMAND...]",
    .summary = "Records memory events with their stacks into a perf.data file.",
    .options = record_command::options,
    .run = record_command::run,
};

}  // namespace memtrace
