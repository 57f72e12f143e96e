// How much memory this process has, and how much it may take.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace memtrace {

// What can be taken before anybody goes without: what the machine has left (MemAvailable), or less
// where a memory cgroup of this process has less left below its limit; its inactive page cache
// counts as left. Nothing when it is not known. `root` stands before /proc and /sys.
std::optional<std::uint64_t> free_memory_bytes(const std::string& root = "");

// What of it is in memory now and belongs to no file. 0: not known.
std::uint64_t own_memory_bytes();

// From now on malloc fails, and the program can say so, when this process takes that much more: the
// kernel would kill it, or another. Threads that start later have smaller stacks, because a stack
// counts as a whole. Before Linux 4.7 the kernel holds only brk(2) to this limit (RLIMIT_DATA,
// getrlimit(2)).
void limit_own_memory(std::uint64_t more_bytes);

}  // namespace memtrace
