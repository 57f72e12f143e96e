// Whom the processes of a live machine belong to. Those that run when it begins are read from
// /proc; from then on the kernel announces what changes (identity/announcements.h), and a child
// begins as what its parent is. What nobody announces is not known of a child until /proc has shown
// it: it is never taken from the parent by guess.
//
//            fork          looked at                it was its parent's as far as /proc shows the
//   parent ---+---           |                      same now; else it is not known up to here, and
//   child     +--- event ----+-- event ---> time    known from here on
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "identity/announcements.h"
#include "identity/identity_log.h"
#include "os/procfs.h"
#include "os/system.h"
#include "perf/record/record.h"
#include "perf/target/target.h"
#include "state/world/world.h"

namespace memtrace {

// A process as /proc shows it.
struct SeenProcess {
  std::uint32_t uid = 0;  // the real one, as bpf_get_current_uid_gid() has it
  std::string cgroup;
  bool ended = false;  // a zombie, or about to be one: its cgroup says nothing
};

// Nothing when there is no such process any more.
std::optional<SeenProcess> read_process(std::uint32_t pid);

// Where the process of an event is, as far as it is known; "" when it is not.
std::string_view known_cgroup(const World& world, const Event& event);

// Its cgroup says nothing any more, though it may not be a zombie yet.
bool is_exiting(const ProcStat& stat);

// From the text of /proc/PID/status and /proc/PID/cgroup.
std::optional<SeenProcess> parse_process(std::string_view status, std::string_view cgroups);

// Names by uid from the text of /etc/passwd.
std::unordered_map<std::uint32_t, std::string> parse_passwd(std::string_view passwd);

class IdentityWatch {
 public:
  struct Setup {
    std::unique_ptr<Announcements> announcements = {};  // null: nothing is announced
    bool monotonic_clock = true;                        // of the records
    std::function<std::optional<SeenProcess>(std::uint32_t pid)> read = read_process;
    std::function<std::uint64_t()> now_ns = monotonic_ns;  // CLOCK_MONOTONIC
  };

  // The world outlives the watch.
  IdentityWatch(World& world, Setup setup);

  // Those that run by now: all, or the target's. First before any event is enabled; then once more,
  // for those that were forked before forks were reported.
  void read_all(const Target& target);
  void read_new(const Target& target);

  // For each record before it changes the world.
  void before(const Record& record);

  IdentityLog& log() { return log_; }

 private:
  static constexpr std::uint64_t kNever = std::numeric_limits<std::uint64_t>::max();

  struct Task {
    IdentityId identity;        // what is known
    IdentityId presumed;        // what it was when that was known last; true if /proc shows it now
    std::uint64_t sure_ns = 0;  // CLOCK_MONOTONIC: when it was known, before losses since then
    std::uint64_t next_ns = 0;  // when to look again, on the records' clock
    std::uint32_t life = 0;     // a pid is used again
    bool is_due = true;
  };

  // What is to be changed when the records have come so far.
  struct Change {
    std::uint64_t time_ns = 0;
    std::uint32_t pid = 0;
    std::uint32_t life = 0;
    IdentityId identity;
    bool is_of_fork = false;  // else it was read, and says what is not known by then
  };

  void advance(std::uint64_t time_ns);
  void apply(const Announcement& announcement);
  void apply(const Change& change);
  void on_fork(std::uint64_t time_ns, const Fork& fork);
  Task child_of(const Fork& fork, std::optional<std::uint32_t> uid);
  void on_sample(std::uint64_t time_ns, std::uint32_t pid);
  void on_user(const Announcement& announcement);
  void on_renamed(const Announcement& announcement);
  void look(std::uint64_t time_ns, std::uint32_t pid, Task& task);
  void set(std::uint64_t time_ns, std::uint32_t pid, Task& task, IdentityId identity);
  void note_change(Change change);
  void add(std::uint32_t pid, const SeenProcess& seen);
  void name_user(std::uint32_t uid);
  bool is_announced(IdentityId identity) const;
  std::uint64_t record_now_ns() const;
  IdentityId with_user(IdentityId identity, std::uint32_t uid);
  IdentityId with_cgroup(IdentityId identity, std::string_view cgroup);
  std::uint32_t uid_of(IdentityId identity) const;
  std::string_view cgroup_of(IdentityId identity) const;

  World& world_;
  Setup setup_;
  IdentityLog log_;
  std::unordered_map<std::uint32_t, Task> tasks_;
  std::unordered_map<std::uint32_t, std::uint32_t> thread_uids_;  // by tid: unlike their processes
  std::unordered_map<std::uint32_t, std::string> unnamed_;  // users that no process had so far
  std::deque<Announcement> announced_;                      // by time
  std::deque<Change> changes_;                              // by time
  bool is_drained_ = false;    // announcements of what has been given out are all there
  std::uint64_t lost_ns_ = 0;  // CLOCK_MONOTONIC: forks or announcements may be missing before it
  Stamp last_tick_;
  std::uint64_t last_tick_at_ns_ = 0;  // CLOCK_MONOTONIC
  Task* last_ = nullptr;               // of last_pid_
  std::uint32_t last_pid_ = 0;
};

}  // namespace memtrace
