// What the kernel wrote into its log of a kill for lack of memory in a cgroup: how full the cgroup
// was, which nobody can read any more when the victim has gone.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace memtrace {

// The end of the kernel's log (syslog(2)); "" when it may not be read.
std::string end_of_kernel_log();

// All of it that is still there, with the wall clock in place of the time since boot:
// "<4>[2026-11-22 14:03:59] text". Error: it may not be read.
Result<std::string> kernel_log_by_wall_clock();

// The same for a text. `boot_ns`: the wall clock when the machine was booted.
std::string with_wall_times(std::string_view log, std::uint64_t boot_ns);

struct CgroupKill {
  std::uint64_t usage_bytes = 0;
  std::uint64_t limit_bytes = 0;
  std::string cgroup;  // whose limit it was; "" when the log does not say it
};

// Whether the log has the line of this process's kill: "Killed process 812 (hog) ...", of RHEL 6
// "Killed process 812, UID 500, (hog) ..." (mm/oom_kill.c). "Kill process" is written before it is
// done.
bool has_kill(std::string_view log, std::uint32_t victim_pid);

// What that line says the process had, in bytes.
struct LoggedVictim {
  std::uint64_t size = 0;
  std::uint64_t anon = 0;
  std::uint64_t file = 0;
  std::uint64_t shmem = 0;  // part of `file` before 4.5
};

// Of its last kill; nothing if the log has none, or one without sizes (before 2.6.36).
std::optional<LoggedVictim> find_victim(std::string_view log, std::uint32_t victim_pid);

// The report of the last kill of this process; nothing if there is none, or it was not for a
// cgroup.
std::optional<CgroupKill> find_cgroup_kill(std::string_view log, std::uint32_t victim_pid);

}  // namespace memtrace
