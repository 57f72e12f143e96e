#include "observe/kernel_log.h"

#include <sys/klog.h>

#include <algorithm>
#include <cctype>

#include "base/text.h"

namespace memtrace {
namespace {

constexpr std::size_t kLogBytes = std::size_t{64} << 10U;

// The number right behind the words; nothing when they are not there.
std::optional<std::uint64_t> number_after(std::string_view line, std::string_view words) {
  const std::size_t at = line.find(words);
  if (at == std::string_view::npos) {
    return std::nullopt;
  }
  const std::string_view rest = line.substr(at + words.size());
  return parse_number(rest.substr(0, rest.find_first_not_of("0123456789")));
}

// "Memory cgroup out of memory: Killed process 812 (hog) ...", "Kill process" before 4.20.
bool tells_victim(std::string_view line, std::uint32_t pid) {
  return number_after(line, "Killed process ") == pid || number_after(line, "Kill process ") == pid;
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

}  // namespace

std::string end_of_kernel_log() {
  constexpr int kReadAll = 3;  // SYSLOG_ACTION_READ_ALL
  std::string text(kLogBytes, '\0');
  const int got = ::klogctl(kReadAll, text.data(), static_cast<int>(text.size()));
  text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return text;
}

// A report begins with "NAME invoked oom-killer: ..." and ends with its victim (mm/oom_kill.c,
// mm/memcontrol.c: mem_cgroup_print_oom_info). It is left out when there were many just before.
std::optional<CgroupKill> find_cgroup_kill(std::string_view log, std::uint32_t victim_pid) {
  constexpr std::uint64_t kKiB = 1024;
  std::optional<CgroupKill> report;
  std::optional<CgroupKill> found;
  for (const std::string_view line : split(log, '\n')) {
    if (line.find("invoked oom-killer") != std::string_view::npos) {
      report.reset();
    }
    const auto usage = number_after(line, " memory: usage ");
    const auto limit = number_after(line, "kB, limit ");
    if (usage && limit) {
      report = {.usage_bytes = *usage * kKiB, .limit_bytes = *limit * kKiB};
    }
    if (report && line.find("oom-kill:") != std::string_view::npos) {
      report->cgroup = cgroup_in(line);
    }
    if (tells_victim(line, victim_pid)) {
      found = report;
      report.reset();
    }
  }
  return found;
}

}  // namespace memtrace
