// Finds the cgroup of a process that counts for its memory.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace memtrace {

struct MemoryCgroup {
  std::string_view path;                   // "" where there is none
  std::optional<std::uint64_t> hierarchy;  // the kernel's number of it; 0: version 2
};

// From the text of /proc/PID/cgroup, which the path borrows from.
MemoryCgroup find_memory_cgroup(std::string_view cgroups);

}  // namespace memtrace
