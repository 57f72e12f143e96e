#include "observe/kernel_log.h"

#include <sys/klog.h>

#include <algorithm>
#include <cctype>
#include <cerrno>

#include "base/text.h"
#include "base/units.h"
#include "base/wall_time.h"
#include "os/system.h"

namespace memtrace {
namespace {

constexpr std::size_t kLogBytes = std::size_t{64} << 10U;
constexpr std::uint64_t kKiB = 1024;

// The number right behind the words; nothing when they are not there.
std::optional<std::uint64_t> number_after(std::string_view line, std::string_view words) {
  const std::size_t at = line.find(words);
  if (at == std::string_view::npos) {
    return std::nullopt;
  }
  const std::string_view rest = line.substr(at + words.size());
  return parse_number(rest.substr(0, rest.find_first_not_of("0123456789")));
}

bool tells_kill(std::string_view line, std::uint32_t pid) {
  return number_after(line, "Killed process ") == pid;
}

// "Memory cgroup out of memory: Kill process 812 (hog) score 900 or sacrifice child": before 4.20,
// ahead of the line of the kill. That one may be of a child.
bool announces_kill(std::string_view line, std::uint32_t pid) {
  return number_after(line, "Kill process ") == pid;
}

// "oom-kill:constraint=CONSTRAINT_MEMCG,...,oom_memcg=/a,task_memcg=/a/b,task=hog,pid=812,uid=0".
std::string cgroup_in(std::string_view line) {
  constexpr std::string_view kBefore = ",oom_memcg=";
  constexpr std::string_view kBehind = ",task_memcg=";
  const std::size_t start = line.find(kBefore);
  const std::size_t end = line.find(kBehind);
  return start == std::string_view::npos || end == std::string_view::npos || end < start
             ? std::string()
             : std::string(line.substr(start + kBefore.size(), end - start - kBefore.size()));
}

// "Task in /a/b killed as a result of limit of /a", before 5.0.
std::optional<std::string> limiting_cgroup_in(std::string_view line) {
  constexpr std::string_view kWords = " killed as a result of limit of ";
  const std::size_t at = line.find(kWords);
  return at == std::string_view::npos ? std::nullopt
                                      : std::optional<std::string>(line.substr(at + kWords.size()));
}

// Nothing when it may not be read.
std::optional<std::string> read_log(std::size_t most_bytes) {
  constexpr int kReadAll = 3;  // SYSLOG_ACTION_READ_ALL
  std::string text(most_bytes, '\0');
  const int got = ::klogctl(kReadAll, text.data(), static_cast<int>(text.size()));
  if (got < 0) {
    return std::nullopt;
  }
  text.resize(static_cast<std::size_t>(got));
  return text;
}

// Times before the words are an option of the kernel's, which RHEL 6 lacks.
std::optional<CgroupKill> usage_in(std::string_view line, const std::string& cgroup) {
  const auto usage = number_after(line, "memory: usage ");
  const auto limit = number_after(line, "kB, limit ");
  if (!usage || !limit) {
    return std::nullopt;
  }
  return CgroupKill{.usage_bytes = *usage * kKiB, .limit_bytes = *limit * kKiB, .cgroup = cgroup};
}

}  // namespace

std::string end_of_kernel_log() {
  return read_log(kLogBytes).value_or("");
}

Result<std::string> kernel_log_by_wall_clock() {
  constexpr int kSizeOfBuffer = 10;  // SYSLOG_ACTION_SIZE_BUFFER
  const int size = ::klogctl(kSizeOfBuffer, nullptr, 0);
  const auto log = read_log(size > 0 ? static_cast<std::size_t>(size) : kLogBytes);
  if (!log) {
    return Error{
        "the kernel's log", errno, "only root may read it, or set kernel.dmesg_restrict=0"};
  }
  return with_wall_times(*log, wall_clock_ns() - monotonic_ns());
}

// printk's clock and CLOCK_MONOTONIC stand still together while the machine sleeps.
std::string with_wall_times(std::string_view log, std::uint64_t boot_ns) {
  std::string text;
  for (const std::string_view line : split(log, '\n')) {
    const std::size_t open = line.find('[');
    const std::size_t close = line.find(']');
    const auto since_boot_ns =
        open < close && close != std::string_view::npos
            ? parse_duration_ns(trim(line.substr(open + 1, close - open - 1)))
            : std::nullopt;
    if (since_boot_ns) {
      const std::uint64_t at_ns = boot_ns + *since_boot_ns;
      text.append(line.substr(0, open + 1)).append(local_date(at_ns)).append(" ");
      text.append(local_time(at_ns)).append(line.substr(close));
    } else {
      text.append(line);
    }
    text += '\n';
  }
  return text;
}

bool has_kill(std::string_view log, std::uint32_t victim_pid) {
  const std::vector<std::string_view> lines = split(log, '\n');
  return std::ranges::any_of(
      lines, [victim_pid](std::string_view line) { return tells_kill(line, victim_pid); });
}

std::optional<LoggedVictim> find_victim(std::string_view log, std::uint32_t victim_pid) {
  std::optional<LoggedVictim> victim;
  for (const std::string_view line : split(log, '\n')) {
    const auto anon = number_after(line, "anon-rss:");
    if (!anon || !tells_kill(line, victim_pid)) {
      continue;
    }
    const auto bytes = [line](std::string_view words) {
      return number_after(line, words).value_or(0) * kKiB;
    };
    victim = {.size = bytes("total-vm:"),
              .anon = *anon * kKiB,
              .file = bytes("file-rss:"),
              .shmem = bytes("shmem-rss:")};
  }
  return victim;
}

// A report begins with "NAME invoked oom-killer: ..." and ends with its victim (mm/oom_kill.c,
// mm/memcontrol.c: mem_cgroup_print_oom_info). It is left out when there were many just before.
std::optional<CgroupKill> find_cgroup_kill(std::string_view log, std::uint32_t victim_pid) {
  std::optional<CgroupKill> report;
  std::optional<CgroupKill> found;
  std::string cgroup;
  bool was_announced = false;
  for (const std::string_view line : split(log, '\n')) {
    if (line.find("invoked oom-killer") != std::string_view::npos) {
      report.reset();
      cgroup.clear();
    }
    cgroup = limiting_cgroup_in(line).value_or(cgroup);
    if (auto used = usage_in(line, cgroup)) {
      report = std::move(used);
    }
    if (report && line.find("oom-kill:") != std::string_view::npos) {
      report->cgroup = cgroup_in(line);
    }
    const bool is_announced = announces_kill(line, victim_pid);
    if (is_announced || tells_kill(line, victim_pid)) {
      found = was_announced ? found : report;
      was_announced = is_announced;
      report.reset();
    }
  }
  return found;
}

}  // namespace memtrace
