// Who has used how much CPU time.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "perf/event/event_fd.h"

namespace memtrace {

struct CpuTimes {
  std::uint64_t watched_ns = 0;  // by the programs that are watched
  std::uint64_t own_ns = 0;      // by memtrace
  // What the watched programs lost for each nanosecond that memtrace ran. Where all CPUs are busy,
  // each program loses by its share of their time; where one is idle, nobody waits.
  double lost_by_own = 1;
};

// Since the machine started, over all CPUs: the first line of /proc/stat (proc(5)).
struct MachineTimes {
  std::uint64_t busy_ticks = 0;
  std::uint64_t idle_ticks = 0;
};

MachineTimes parse_machine_times(std::string_view stat);

class CpuTimesReader {
 public:
  // {-1}: all that runs is watched, but for memtrace. With `inherit` children are, too.
  CpuTimesReader(std::span<const std::int32_t> tids, bool inherit);

  // Since the call before, or since this was made.
  CpuTimes take();

 private:
  struct Readings {
    std::uint64_t watched_ns = 0;
    std::uint64_t own_ns = 0;
    MachineTimes machine;
  };

  Readings read() const;

  bool whole_machine_ = false;
  std::vector<EventFd> clocks_;  // task-clock: it adds up the time of children as well
  Readings before_;
};

}  // namespace memtrace
