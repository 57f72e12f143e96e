// Keeps memtrace itself alive and quick while the machine has no memory left.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace memtrace {

// The OOM killer passes over this process: oom_score_adj -1000, else as low as the kernel allows,
// which is the lowest value that a privileged process gave it (oom_score_adj_min, Linux 2.6.36).
// Returns "" or what the kernel refused, in a sentence.
std::string pass_over_by_oom_killer(const std::string& proc_self = "/proc/self");

// What is mapped by now is read in and locked as a whole, what is mapped later as it is touched: it
// is neither swapped out nor read again from files. Returns "" or what the kernel refused.
std::string lock_own_memory();

// What a process that has this much memory would be refused, in the sentences of the two above.
// Tried by a child process that ends at once: nothing of this one changes. Without a child, both
// say that nothing could be tried.
struct RefusedProtection {
  std::string by_oom_killer;
  std::string locked_memory;
};

RefusedProtection try_protection(std::size_t size_bytes);

// Of the text of /proc/PID/statm; 0: not known.
std::size_t anonymous_bytes(std::string_view statm);

// Anonymous memory of this process; 0: not known.
std::size_t own_anonymous_bytes();

}  // namespace memtrace
