// Kills for lack of memory that are alike: a service that is killed again and again is one row.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "report/report.h"
#include "views/oom/oom_kills.h"

namespace memtrace {

// What --by takes, and what it is by default.
inline constexpr auto kOomKeys = std::to_array<std::string_view>({"cgroup",
                                                                  "container",
                                                                  "unit",
                                                                  "user",
                                                                  "uid",
                                                                  "exe",
                                                                  "command",
                                                                  "ppid",
                                                                  "for",
                                                                  "victim",
                                                                  "comm",
                                                                  "how",
                                                                  "kill",
                                                                  "stack"});
inline constexpr auto kOomDefaultKeys =
    std::to_array<std::string_view>({"cgroup", "for", "victim", "comm", "how"});

struct OomGroup {
  std::vector<Cell> keys;
  std::uint64_t kills = 0;
  // Of the largest victim; blank where no victim's memory is known.
  Cell anon_bytes = {};
  Cell file_bytes = {};
  Cell shmem_bytes = {};
  const OomKill* last = nullptr;
};

// The groups with the most kills come first, then the latest.
std::vector<OomGroup> group_kills(std::span<const OomKill> kills,
                                  std::span<const std::string> keys);

// When, how often and how much; a pid and a limit are of the last kill. `start_ns`: of the report.
Table group_table(std::span<const OomGroup> groups,
                  std::span<const std::string> keys,
                  std::uint64_t start_ns);

}  // namespace memtrace
