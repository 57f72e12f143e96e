// Reads from /proc whom the processes of a live machine belong to: all that run when it begins,
// later ones at their first event and after execve, and those that have events now and then again,
// because a daemon changes its user and is moved to a cgroup without an event.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "perf/record.h"
#include "perf/target.h"
#include "pipeline/identity_log.h"
#include "state/world.h"

namespace memtrace {

// A process as /proc shows it.
struct SeenProcess {
  std::uint32_t uid = 0;  // the real one, as bpf_get_current_uid_gid() has it
  std::string cgroup;
  bool ended = false;  // a zombie, or about to be one
};

// Nothing when there is no such process any more.
std::optional<SeenProcess> read_process(std::uint32_t pid);

// Where the process of an event is, as far as it was read; "" when it was not.
std::string_view known_cgroup(const World& world, const Event& event);

// From the text of /proc/PID/stat.
bool is_exiting(std::string_view stat);

// From the text of /proc/PID/status and /proc/PID/cgroup.
std::optional<SeenProcess> parse_process(std::string_view status, std::string_view cgroups);

// Names by uid from the text of /etc/passwd.
std::unordered_map<std::uint32_t, std::string> parse_passwd(std::string_view passwd);

class IdentityWatch {
 public:
  using Read = std::function<std::optional<SeenProcess>(std::uint32_t pid)>;

  // The world outlives the watch.
  explicit IdentityWatch(World& world, Read read = read_process);

  // Those that run by now: all, or the target's.
  void read_all(const Target& target);

  // For each record before it changes the world.
  void before(const Record& record);

  IdentityLog& log() { return log_; }

 private:
  struct Task {
    bool is_due = true;         // not read since it was forked
    std::uint64_t next_ns = 0;  // when to read it again, on the records' clock
  };

  void on_sample(std::uint64_t time_ns, std::uint32_t pid);
  void read(std::uint32_t pid, std::uint64_t time_ns);
  void name_user(std::uint32_t uid);

  World& world_;
  Read read_;
  IdentityLog log_;
  std::unordered_map<std::uint32_t, Task> tasks_;
  std::unordered_map<std::uint32_t, std::string> unnamed_;  // users that no process had so far
  Task* last_ = nullptr;                                    // of last_pid_
  std::uint32_t last_pid_ = 0;
};

}  // namespace memtrace
