// What processes of a live machine run: their arguments and parents, from /proc. No record has the
// arguments: they are read when the record of an exec arrives. A program that ends before that has
// none.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <unordered_set>

#include "identity/identity_log.h"
#include "perf/record/record.h"
#include "perf/target/target.h"
#include "state/world/world.h"

namespace memtrace {

struct SeenCommand {
  std::uint32_t parent_pid = 0;
  std::string comm;
  std::string command;  // of one line; "" for a kernel thread or a zombie
};

// Nothing when there is no such process any more.
std::optional<SeenCommand> read_command(std::uint32_t pid);

// From the text of /proc/PID/cmdline, whose arguments end in NUL: with blanks between them, and
// without what would end a line. Cut to 1,024 bytes.
std::string one_line(std::string_view cmdline);

class CommandWatch {
 public:
  using Read = std::function<std::optional<SeenCommand>(std::uint32_t pid)>;

  // World and log outlive the watch.
  CommandWatch(World& world, IdentityLog& log, Read read = read_command)
      : world_(world), log_(log), read_(std::move(read)) {}

  // Those that run by now: first before any event is enabled, and once more for those that were
  // forked before forks were reported.
  void read_all(const Target& target);

  // For each record after it has changed the world.
  void after(const Record& record);

 private:
  void describe(std::uint64_t time_ns, std::uint32_t pid, const SeenCommand& seen);

  World& world_;
  IdentityLog& log_;
  Read read_;
  std::unordered_set<std::uint32_t> read_pids_;
};

}  // namespace memtrace
