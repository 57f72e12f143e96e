// Figures of /proc that triggers are compared with once a second.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace memtrace {

struct MachineLevels {
  std::optional<std::uint64_t> swapped_in_pages;  // since the machine was booted
  std::optional<std::uint64_t> available_bytes;
  std::optional<std::uint64_t> total_bytes;
};

// Before Linux 3.14, /proc/meminfo has no MemAvailable: then free memory and the page cache without
// shared memory, which is more than what is available.
MachineLevels read_levels(const std::string& proc = "/proc");

}  // namespace memtrace
