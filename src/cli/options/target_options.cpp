// Whom to watch.
#include <algorithm>
#include <array>

#include "base/text.h"
#include "cli/options/shared_options.h"
#include "perf/target/target.h"

namespace memtrace {
namespace {

constexpr auto kTarget = std::to_array<Option>({
    {"all-cpus", 'a', "", "the whole machine"},
    {"yes-all-processes",
     0,
     "",
     "the whole machine, and allow probes on the code of every process, which slow them all down"},
    {"all-processes", 0, "", "the same as --yes-all-processes", "yes-all-processes", "1"},
    {"pid", 'p', "PID,...", "these processes, all their threads, and the children they start"},
    {"tid", 't', "TID,...", "these threads"},
    {"duration", 'd', "SECONDS", "stop after this time"},
    {"keep-aslr", 0, "", "randomize COMMAND's addresses even if its stacks are copied"},
});

}  // namespace

std::span<const Option> target_options() {
  return kTarget;
}

Result<std::vector<std::uint32_t>> read_ids(const ParsedOptions& parsed, std::string_view name) {
  std::vector<std::uint32_t> ids;
  for (const std::string& text : parsed.list(name)) {
    const auto id = parse_number(text);
    if (!id || *id == 0 || *id > 0x7fffffff) {
      return Error{"--" + std::string(name) + " " + text,
                   0,
                   "takes ids, such as 1234 or 12,34",
                   ErrorKind::Usage};
    }
    ids.push_back(static_cast<std::uint32_t>(*id));
  }
  if (ids.empty() && parsed.has(name)) {
    return Error{"--" + std::string(name) + ": the list of ids is empty",
                 0,
                 "the command that was to print the ids, such as $(pgrep NAME), found no process",
                 ErrorKind::Usage};
  }
  return ids;
}

bool has_target(const ParsedOptions& parsed) {
  constexpr std::array<std::string_view, 4> kNames = {
      "all-cpus", "yes-all-processes", "pid", "tid"};
  return !parsed.command().empty() ||
         std::ranges::any_of(kNames, [&](std::string_view name) { return parsed.has(name); });
}

Result<Target> read_target(const ParsedOptions& parsed) {
  const std::array<bool, 3> given = {parsed.has("all-cpus") || parsed.has("yes-all-processes"),
                                     parsed.has("pid"),
                                     parsed.has("tid")};
  const auto count = std::count(given.begin(), given.end(), true);
  if (count > 1 || (count == 0 && parsed.command().empty())) {
    return Error{count == 0 ? "nothing to watch" : "more than one thing to watch",
                 0,
                 "give one of -a (the whole machine), -p PID, -t TID, or -- COMMAND",
                 ErrorKind::Usage};
  }
  Target target{.kind = TargetKind::Command,
                .command = parsed.command(),
                .keep_aslr = parsed.has("keep-aslr")};
  if (given[0]) {
    target.kind = TargetKind::System;
  } else if (count == 1) {
    target.kind = given[1] ? TargetKind::Processes : TargetKind::Threads;
    auto ids = read_ids(parsed, given[1] ? "pid" : "tid");
    if (!ids.ok()) {
      return ids.take_error();
    }
    target.ids = ids.take();
  }
  return target;
}

std::string describe_target(const Target& target) {
  if (target.kind == TargetKind::System) {
    return "the whole machine";
  }
  if (target.kind == TargetKind::Command) {
    return join(target.command, " ");
  }
  std::vector<std::string> ids;
  for (const std::uint32_t id : target.ids) {
    ids.push_back(std::to_string(id));
  }
  return (target.kind == TargetKind::Processes ? "process " : "thread ") + join(ids, ", ");
}

}  // namespace memtrace
