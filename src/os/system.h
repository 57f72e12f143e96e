// Files of /proc and /sys, and the machine's few facts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace memtrace {

// The whole file, also one whose size stat(2) gives as 0, or its first most_bytes. Error:
// "open(PATH)" or "read(PATH)".
Result<std::string> read_file(const std::string& path, std::size_t most_bytes = SIZE_MAX);

// Names in a directory without . and .., sorted.
Result<std::vector<std::string>> list_directory(const std::string& path);

bool path_exists(const std::string& path);

// Online CPUs by number, from /sys/devices/system/cpu/online ("0-3,5").
Result<std::vector<int>> online_cpus();

// "0-3,5" -> 0 1 2 3 5; stops at the first thing that is not a list.
std::vector<int> parse_cpu_list(std::string_view text);

// CPUs that this process may run on; 1 where the kernel does not say, because it has more than the
// mask has bits.
std::size_t usable_cpu_count();

std::uint64_t page_size_bytes();

// CLOCK_MONOTONIC and CLOCK_REALTIME.
std::uint64_t monotonic_ns();
std::uint64_t wall_clock_ns();

// What uname(2) says, asked once.
struct MachineName {
  std::string host;
  std::string kernel_release;
  std::string architecture;
};

const MachineName& machine_name();

// Another one after each boot; "" where /proc does not say.
std::string boot_id();

// "14:03:59", here and now.
std::string clock_time();

}  // namespace memtrace
