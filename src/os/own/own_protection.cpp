#include "os/own/own_protection.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstring>
#include <fstream>
#include <functional>
#include <optional>

#include "base/text.h"
#include "base/units.h"
#include "os/mapping.h"
#include "os/procfs.h"
#include "os/system.h"
#include "os/unique_fd.h"

namespace memtrace {
namespace {

constexpr int kNever = -1000;   // OOM_SCORE_ADJ_MIN
constexpr int kOldNever = -17;  // OOM_DISABLE, of oom_adj before Linux 2.6.36

bool write_to(const std::string& path, int value) {
  std::ofstream file(path);
  file << value;
  file.flush();
  return file.good();
}

int read_from(const std::string& path) {
  int value = 0;
  std::ifstream(path) >> value;
  return value;
}

// The lowest value above -1000 that the kernel takes: it takes each one that is not below
// oom_score_adj_min, which nothing shows.
void lower_as_far_as_allowed(const std::string& path) {
  int refused = kNever;
  int allowed = read_from(path);
  while (allowed - refused > 1) {
    const int middle = refused + (allowed - refused) / 2;
    (write_to(path, middle) ? allowed : refused) = middle;
  }
}

// RLIMIT_MEMLOCK, which holds for a process without CAP_IPC_LOCK.
std::string lock_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_MEMLOCK, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) {
    return "";
  }
  return fmt::format("; ulimit -l allows {}, and CAP_IPC_LOCK any amount",
                     print_bytes(limit.rlim_cur));
}

std::string lock_refused(int error) {
  return fmt::format(
      "memtrace's memory may be swapped out: mlockall: {}{}", std::strerror(error), lock_limit());
}

std::size_t read_at_once(const UniqueFd& fd, std::string& room) {
  const ssize_t got = ::read(fd.get(), room.data(), room.size());
  return got < 0 ? 0 : static_cast<std::size_t>(got);
}

// What the child says. That nothing is refused must be said, too: a child that cannot be made or
// that is killed says nothing.
std::string ask_child(const std::function<std::string()>& question) {
  constexpr char kAnswered = '+';
  constexpr const char* kNotTried = "it could not be tried: a child process for it failed";
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return kNotTried;
  }
  const UniqueFd reader(ends[0]);
  UniqueFd writer(ends[1]);
  const pid_t child = ::fork();
  if (child == 0) {
    const std::string answer = kAnswered + question();
    (void)!::write(writer.get(), answer.data(), answer.size());
    ::_exit(0);
  }
  writer.reset();
  std::string answer(PIPE_BUF, '\0');
  answer.resize(read_at_once(reader, answer));
  if (child > 0) {
    ::waitpid(child, nullptr, 0);
  }
  return answer.starts_with(kAnswered) ? answer.substr(1) : kNotTried;
}

// Without touching it, where the kernel can lock what is not there yet (MCL_ONFAULT).
std::string try_lock(std::size_t size_bytes) {
  if (::mlockall(MCL_FUTURE | MCL_ONFAULT) != 0 && errno == EINVAL) {
    return lock_own_memory();
  }
  const auto memory = Mapping::map({.size_bytes = size_bytes,
                                    .prot = PROT_READ | PROT_WRITE,
                                    .flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE});
  const int error = memory.ok() ? 0 : memory.error().errno_value;
  return error == 0 && ::mlockall(MCL_CURRENT | MCL_ONFAULT) == 0
             ? ""
             : lock_refused(error == 0 ? errno : error);
}

}  // namespace

RefusedProtection try_protection(std::size_t size_bytes) {
  return {.by_oom_killer = ask_child([] { return pass_over_by_oom_killer(); }),
          .locked_memory = ask_child([size_bytes] { return try_lock(size_bytes); })};
}

std::string pass_over_by_oom_killer(const std::string& proc_self) {
  const std::string path = proc_self + "/oom_score_adj";
  if (write_to(path, kNever) ||
      (!path_exists(path) && write_to(proc_self + "/oom_adj", kOldNever))) {
    return "";
  }
  lower_as_far_as_allowed(path);
  return fmt::format(
      "the OOM killer may kill memtrace: the kernel refuses oom_score_adj -1000 without "
      "CAP_SYS_RESOURCE, and it is {}",
      read_from(path));
}

// MCL_ONFAULT (Linux 4.4): the stacks of threads are mostly empty. Before it, what is mapped later
// is not locked.
std::string lock_own_memory() {
  if (::mlockall(MCL_CURRENT) != 0) {
    return lock_refused(errno);
  }
  (void)::mlockall(MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT);
  return "";
}

// fs/proc/array.c, proc_pid_statm: size, resident, shared, ...; "shared" are the pages of files and
// of shared memory. RssAnon of status came with Linux 4.5.
std::size_t anonymous_bytes(std::string_view statm) {
  const auto words = split(statm, ' ');
  const auto resident = words.size() > 2 ? parse_number(words[1]) : std::nullopt;
  const auto shared = words.size() > 2 ? parse_number(words[2]) : std::nullopt;
  return resident && shared && *resident > *shared ? (*resident - *shared) * page_size_bytes() : 0;
}

std::size_t own_anonymous_bytes() {
  const auto statm = read_file("/proc/self/statm");
  return statm.ok() ? anonymous_bytes(statm.value()) : 0;
}

}  // namespace memtrace
