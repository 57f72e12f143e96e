// How large processes are, read now and then: a file that a trigger made says who grew before it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sections/watch_facts.h"

namespace memtrace {

struct ResidentSize {
  std::uint32_t pid = 0;
  std::string comm;
  std::uint64_t bytes = 0;
};

inline constexpr std::size_t kMostSizes = 64;

// The largest kMostSizes processes, the largest first.
std::vector<ResidentSize> resident_sizes(const std::string& proc = "/proc");

// Of one process; 0 when it has ended.
std::uint64_t resident_bytes(std::uint32_t pid, const std::string& proc = "/proc");

// Those that have grown by a MiB or more, most first, at most five. One that is not in `before`
// counts from 0: it is new, or was none of the largest.
std::vector<GrownProcess> grown_since(const std::vector<ResidentSize>& before,
                                      const std::vector<ResidentSize>& now);

}  // namespace memtrace
