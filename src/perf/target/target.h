// Whom to watch: the whole machine, some processes or threads, or a command that is started here.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "os/unique_fd.h"

namespace memtrace {

enum class TargetKind : std::uint8_t { System, Processes, Threads, Command };

// The addresses of a command: randomized as usual, or the same in each run.
enum class Addresses : std::uint8_t { Random, Fixed };

struct Target {
  TargetKind kind = TargetKind::System;
  std::vector<std::uint32_t> ids;  // pids or tids
  // argv: the target, or beside another target the command whose end ends the recording.
  std::vector<std::string> command;
  // Standard output is the recording's: the command writes to standard error instead.
  bool output_taken = false;
  bool may_have_ended = false;  // the ids were looked up: a process may have ended since
  bool keep_aslr = false;       // the user wants Addresses::Random
};

// Threads of a process, read again until two looks agree. Error: no such process.
Result<std::vector<std::uint32_t>> threads_of(std::uint32_t pid);

// Whether all of these processes or threads have ended; a zombie has.
bool all_ended(const std::vector<std::uint32_t>& ids);

// The tasks to open events for, each once; {-1} for the whole machine. Error: no such process or
// thread.
Result<std::vector<std::int32_t>> tasks_of(const Target& target);

// The tasks of now: those of the target, and of all that it and its children have started.
std::vector<std::int32_t> family_tasks_of(const Target& target);

// "cannot run 'NAME'" with what execvp(3) says, and a hint.
Error cannot_run(const std::string& name, int errno_value);

// A command that has been forked but waits before execve(2) until it is released, so that
// everything can be set up around it. Killed when it is destroyed unreleased.
class HeldCommand {
 public:
  static Result<HeldCommand> spawn(const Target& target, Addresses addresses = Addresses::Random);

  HeldCommand(HeldCommand&&) noexcept = default;
  HeldCommand& operator=(HeldCommand&&) = delete;
  HeldCommand(const HeldCommand&) = delete;
  HeldCommand& operator=(const HeldCommand&) = delete;
  ~HeldCommand();

  pid_t pid() const { return pid_; }

  // Not released yet.
  bool is_held() const { return go_.valid(); }

  // Lets it run. Error: "COMMAND", the errno of execvp(3), with a hint.
  Result<> release();

  // Its wait status once it has ended; never blocks.
  std::optional<int> poll_exit();

  // The same, waiting at most so long.
  std::optional<int> wait_exit(std::chrono::milliseconds patience);

  // Passes on the signal that asked us to stop, to what the command has started, too.
  void terminate(int signal) const;

 private:
  HeldCommand(pid_t pid, UniqueFd go, UniqueFd exec_errno, std::string name);

  pid_t pid_ = -1;
  UniqueFd go_;          // the child reads one byte from its other end
  UniqueFd exec_errno_;  // the child writes errno when execvp fails; closed by a successful exec
  std::string name_;
  std::optional<int> status_;
};

// "exited with status 3", "was killed by signal 11 (Segmentation fault)".
std::string describe_wait_status(int status);

}  // namespace memtrace
