// Users and cgroups of processes as they are kept in a recording: lines of text in a section of
// their own, those of a pipe in pieces before the samples that need them.
//
//   user 1000 anna                    a user's name
//   cgroup 1 /system.slice/x.service  a path, by a number of this log
//   task 6039144123186 812 1000 1     from this time on, process 812 is user 1000's in cgroup 1
//   task 6039144123190 813 - 1        the same of one whose user is not known
//   task 6039144123190 814 1000 -     and of one whose cgroup is not known
//   process 6039144123190 814 1 /usr/sbin/sshd -D
//                                     from this time on, process 814, whose parent is 1, runs this
//                                     command; a kernel thread has none
//
// A forked process has its parent's until a line says otherwise. Versions that do not know "-" or
// "process" pass over such lines.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "perf/record/recording.h"
#include "state/world/world.h"

namespace memtrace {

struct TaskIdentity {
  std::uint64_t time_ns = 0;
  std::uint32_t pid = 0;
  std::uint32_t uid = kUnknownUser;
  std::string cgroup;  // "": not known
};

struct TaskCommand {
  std::uint64_t time_ns = 0;
  std::uint32_t pid = 0;
  std::uint32_t parent_pid = 0;
  std::string command;  // of one line
};

class IdentityLog {
 public:
  void add(const TaskIdentity& task);
  void add_command(const TaskCommand& task);
  void name_user(std::uint32_t uid, std::string_view name);

  const std::string& text() const { return text_; }

  // What was added since this was last asked.
  std::string_view news();

  // Another file begins at this time: of what was true before, only what the running processes are
  // by now is kept. Of a child that is what its parent was, no line says it until here.
  void begin_file(std::uint64_t time_ns, const World& world);

 private:
  std::string number_of(const std::string& cgroup);
  void add_command_of(std::uint64_t time_ns, std::uint32_t pid, const World& world);
  std::string take_tasks_after(std::uint64_t time_ns);

  std::string text_;
  std::size_t told_ = 0;
  std::unordered_map<std::string, std::size_t> cgroups_;
};

// The way back: plays a recording's log into a world.
class IdentityReplay {
 public:
  // Both outlive the replay; the recording may still grow.
  IdentityReplay(World& world, const Recording& recording) : world_(world), recording_(recording) {}

  // Everything that is true at that time.
  void advance(std::uint64_t time_ns);

  // Whether the recording says anything at all.
  bool has_any() const { return !recording_.identities.empty(); }

 private:
  void read_news();
  void read_line(std::string_view line);
  void read_task(std::string_view words);
  void read_process(std::string_view words);
  std::optional<std::string_view> path_of(std::string_view number);

  // Many tasks share a path: a copy for each could take any amount of memory.
  struct DueTask {
    std::uint64_t time_ns = 0;
    std::uint32_t pid = 0;
    IdentityId identity;
  };

  World& world_;
  const Recording& recording_;
  std::size_t read_ = 0;       // whole lines
  std::size_t looked_at_ = 0;  // with the one that has no end yet
  std::deque<DueTask> due_;
  std::deque<TaskCommand> due_commands_;
  std::unordered_map<std::uint64_t, std::string> cgroups_;
};

}  // namespace memtrace
