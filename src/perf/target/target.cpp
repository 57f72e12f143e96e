#include "perf/target/target.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/personality.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <map>
#include <set>
#include <thread>

#include "os/procfs.h"
#include "os/stop_signals.h"
#include "os/system.h"
#include "os/this_thread.h"
#include "perf/target/proc_snapshot.h"

namespace memtrace {
namespace {

struct Pipe {
  UniqueFd read_end;
  UniqueFd write_end;
};

Result<Pipe> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return Error{"pipe2", errno, ""};
  }
  return Pipe{UniqueFd(ends[0]), UniqueFd(ends[1])};
}

// In the child: never returns. Only async-signal-safe calls from here on.
[[noreturn]] void wait_and_exec(int go_fd, int errno_fd, char* const* argv) {
  char go = 0;
  while (::read(go_fd, &go, 1) < 0 && errno == EINTR) {
  }
  if (go == 0) {
    ::_exit(127);  // memtrace ended without releasing us
  }
  reset_signals();
  ::execvp(argv[0], argv);
  const int error = errno;
  [[maybe_unused]] const ssize_t sent = ::write(errno_fd, &error, sizeof(error));
  ::_exit(127);
}

// personality(2): of what is executed from here on, but set-user-ID programs. A container may
// refuse.
void fix_addresses() {
  constexpr unsigned long kAskOnly = 0xffffffff;
  const int now = ::personality(kAskOnly);
  if (now >= 0) {
    (void)::personality(static_cast<unsigned long>(now) | ADDR_NO_RANDOMIZE);
  }
}

Result<std::vector<std::uint32_t>> threads_for(TargetKind kind, std::uint32_t id) {
  if (kind != TargetKind::Threads) {
    return threads_of(id);
  }
  const auto process = process_of(id);
  return process.ok() ? Result<std::vector<std::uint32_t>>({id}) : process.error();
}

// The processes and all that they and their children started, parents first: a shell that is still
// there would go on to its next command when one ends.
std::vector<pid_t> families_of(std::vector<pid_t> first) {
  std::multimap<std::uint32_t, pid_t> children;
  auto pids = process_ids();
  for (const std::uint32_t pid : pids.ok() ? pids.take() : std::vector<std::uint32_t>()) {
    if (const auto stat = parse_stat(proc_text(pid, "stat"))) {
      children.emplace(stat->parent_pid, static_cast<pid_t>(pid));
    }
  }
  std::vector<pid_t> family = std::move(first);
  for (std::size_t i = 0; i < family.size(); ++i) {
    const auto [begin, end] = children.equal_range(static_cast<std::uint32_t>(family[i]));
    std::for_each(begin, end, [&family](const auto& child) { family.push_back(child.second); });
  }
  return family;
}

}  // namespace

Result<std::vector<std::uint32_t>> threads_of(std::uint32_t pid) {
  std::vector<std::uint32_t> tids;
  for (int look = 0; look < 10; ++look) {
    auto again = process_ids(proc_path(pid, "task"));
    if (!again.ok()) {
      return Error{"process " + std::to_string(pid),
                   ESRCH,
                   "no process has this id; ps -e lists those that run"};
    }
    const bool settled = again.value() == tids;
    tids = again.take();
    if (settled) {
      break;
    }
  }
  return tids;
}

Result<std::vector<std::int32_t>> tasks_of(const Target& target) {
  if (target.kind == TargetKind::System) {
    return std::vector<std::int32_t>{-1};
  }
  std::set<std::int32_t> tids;
  for (const std::uint32_t id : target.ids) {
    auto found = threads_for(target.kind, id);
    if (!found.ok() && target.may_have_ended) {
      continue;
    }
    if (!found.ok()) {
      return found.take_error();
    }
    tids.insert(found.value().begin(), found.value().end());
  }
  return std::vector<std::int32_t>(tids.begin(), tids.end());
}

std::vector<std::int32_t> family_tasks_of(const Target& target) {
  if (target.kind == TargetKind::System) {
    return {-1};
  }
  if (target.kind == TargetKind::Threads) {
    return {target.ids.begin(), target.ids.end()};
  }
  std::set<std::int32_t> tids;
  for (const pid_t pid : families_of({target.ids.begin(), target.ids.end()})) {
    if (const auto threads = threads_of(static_cast<std::uint32_t>(pid)); threads.ok()) {
      tids.insert(threads.value().begin(), threads.value().end());
    }
  }
  return {tids.begin(), tids.end()};
}

Error cannot_run(const std::string& name, int errno_value) {
  const char* hint = "is it an executable file?";
  if (errno_value == ENOENT && name.find('/') == std::string::npos) {
    hint = "no such file in $PATH; give the command's full path";
  } else if (errno_value == ENOENT && path_exists(name)) {
    hint = "is the interpreter there that its first line names, or its dynamic loader?";
  } else if (errno_value == ENOENT) {
    hint = "is its path right?";
  }
  return Error{"cannot run '" + name + "'", errno_value, hint};
}

HeldCommand::HeldCommand(pid_t pid, UniqueFd go, UniqueFd exec_errno, std::string name)
    : pid_(pid), go_(std::move(go)), exec_errno_(std::move(exec_errno)), name_(std::move(name)) {}

Result<HeldCommand> HeldCommand::spawn(const Target& target, Addresses addresses) {
  auto go = make_pipe();
  auto exec_errno = make_pipe();
  if (!go.ok() || !exec_errno.ok()) {
    return go.ok() ? exec_errno.take_error() : go.take_error();
  }
  std::vector<std::string> copies = target.command;
  std::vector<char*> pointers;
  pointers.reserve(copies.size() + 1);
  for (std::string& copy : copies) {
    pointers.push_back(copy.data());
  }
  pointers.push_back(nullptr);
  const pid_t pid = ::fork();
  if (pid < 0) {
    return Error{"fork", errno, ""};
  }
  if (pid == 0) {
    (void)::setpriority(PRIO_PROCESS, 0, nice_at_start());
    go.value().write_end.reset();  // else the read never ends when memtrace does
    if (target.output_taken) {
      ::dup2(STDERR_FILENO, STDOUT_FILENO);
    }
    if (addresses == Addresses::Fixed) {
      fix_addresses();
    }
    wait_and_exec(go.value().read_end.get(), exec_errno.value().write_end.get(), pointers.data());
  }
  return HeldCommand(pid,
                     std::move(go.value().write_end),
                     std::move(exec_errno.value().read_end),
                     target.command.front());
}

HeldCommand::~HeldCommand() {
  if (go_.valid() && pid_ > 0) {
    go_.reset();  // the child reads end of file and leaves
    ::waitpid(pid_, nullptr, 0);
  } else if (status_) {
    ::waitpid(pid_, nullptr, WNOHANG);
  }
}

Result<> HeldCommand::release() {
  const char go = 1;
  if (::write(go_.get(), &go, 1) != 1) {
    return Error{"starting " + name_, errno, ""};
  }
  go_.reset();
  int error = 0;
  ssize_t got = 0;
  do {
    got = ::read(exec_errno_.get(), &error, sizeof(error));
  } while (got < 0 && errno == EINTR);
  if (got == static_cast<ssize_t>(sizeof(error))) {
    ::waitpid(pid_, nullptr, 0);
    status_ = 127 << 8;
    return cannot_run(name_, error);
  }
  return kDone;
}

// It stays a zombie: /proc still has its limits and its user then, which what it did last may be
// looked up by.
std::optional<int> HeldCommand::poll_exit() {
  constexpr int kCoreFlag = 0x80;  // of a wait status (wait(2), WCOREDUMP)
  siginfo_t ended{};
  const auto id = static_cast<id_t>(pid_);
  if (!status_ && ::waitid(P_PID, id, &ended, WEXITED | WNOHANG | WNOWAIT) == 0 &&
      ended.si_pid == pid_) {
    const bool has_exited = ended.si_code == CLD_EXITED;
    status_ = has_exited ? W_EXITCODE(ended.si_status, 0)
                         : ended.si_status | (ended.si_code == CLD_DUMPED ? kCoreFlag : 0);
  }
  return status_;
}

std::optional<int> HeldCommand::wait_exit(std::chrono::milliseconds patience) {
  constexpr std::chrono::milliseconds kStep{10};
  for (; !poll_exit() && patience.count() > 0; patience -= kStep) {
    std::this_thread::sleep_for(kStep);
  }
  return status_;
}

void HeldCommand::terminate(int signal) const {
  if (status_) {
    return;
  }
  for (const pid_t pid : families_of({pid_})) {
    ::kill(pid, signal);
  }
}

std::string describe_wait_status(int status) {
  if (WIFSIGNALED(status)) {
    return fmt::format(
        "was killed by signal {} ({})", WTERMSIG(status), ::strsignal(WTERMSIG(status)));
  }
  return fmt::format("exited with status {}", WEXITSTATUS(status));
}

bool all_ended(const std::vector<std::uint32_t>& ids) {
  return std::all_of(ids.begin(), ids.end(), [](std::uint32_t id) {
    const auto stat = parse_stat(proc_text(id, "stat"));
    return !stat || stat->has_ended();
  });
}

}  // namespace memtrace
