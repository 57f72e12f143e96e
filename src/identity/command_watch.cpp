#include "identity/command_watch.h"

#include <algorithm>

#include "os/procfs.h"
#include "perf/target/proc_snapshot.h"

namespace memtrace {
namespace {

constexpr std::size_t kMaxBytes = 1024;

}  // namespace

std::string one_line(std::string_view cmdline) {
  while (!cmdline.empty() && cmdline.back() == '\0') {
    cmdline.remove_suffix(1);
  }
  std::string line(cmdline.substr(0, kMaxBytes));
  const auto is_between = [](char c) { return c == '\0' || c == '\n'; };
  std::ranges::replace_if(line, is_between, ' ');
  return line;
}

std::optional<SeenCommand> read_command(std::uint32_t pid) {
  const std::string cmdline = proc_text(pid, "cmdline");
  const auto stat = parse_stat(proc_text(pid, "stat"));
  if (!stat) {
    return std::nullopt;
  }
  return SeenCommand{.parent_pid = stat->parent_pid,
                     .comm = std::string(parse_comm(proc_text(pid, "comm"))),
                     .command = one_line(cmdline)};
}

void CommandWatch::read_all(const Target& target) {
  for (const std::uint32_t pid : processes_of(target)) {
    if (!read_pids_.insert(pid).second) {
      continue;
    }
    if (const auto seen = read_(pid)) {
      describe(0, pid, *seen);
    }
  }
}

void CommandWatch::after(const Record& record) {
  const auto* comm = std::get_if<Comm>(&record.payload);
  if (comm == nullptr || !comm->exec) {
    return;
  }
  // /proc is of now: the process may have called execve(2) once more since the record.
  if (const auto seen = read_(comm->pid); seen && seen->comm == comm->name) {
    describe(record.stamp.time_ns + 1, comm->pid, *seen);
  }
}

void CommandWatch::describe(std::uint64_t time_ns, std::uint32_t pid, const SeenCommand& seen) {
  world_.describe(pid, seen.parent_pid, seen.command);
  log_.add_command(
      {.time_ns = time_ns, .pid = pid, .parent_pid = seen.parent_pid, .command = seen.command});
}

}  // namespace memtrace
