// How much memory of all processes is resident and in swap. The kernel reports sizes of address
// spaces, but no longer when they end: a task that exits has given its address space up before its
// pages go (exit_mm() in kernel/exit.c).
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>

#include "state/process/process_table.h"
#include "tracepoints/event/event.h"

namespace memtrace {

class ResidentSums {
 public:
  void apply(std::uint32_t pid, const RssStat& stat, const ProcessTable& processes);

  // Forgets the address spaces of processes that have ended; true if there were any.
  bool drop_ended(const ProcessTable& processes);

  std::uint64_t in_memory_bytes() const { return sums_[0]; }

  std::uint64_t in_swap_bytes() const { return sums_[1]; }

 private:
  using Sizes = std::array<std::uint64_t, 4>;  // by member of the address space

  struct Space {
    std::uint32_t pid = 0;  // of the process that was first seen to change it as its own; 0: none
    bool is_over = false;
    Sizes bytes{};
  };

  // Reclaim changes those of any process: of a recording are those that a process of it has.
  static bool counts(const Space& space) { return space.pid != 0 && !space.is_over; }

  void add(const Space& space);
  void end(Space& space);

  std::unordered_map<std::uint32_t, Space> spaces_;          // by mm_id
  std::unordered_map<std::uint32_t, std::uint32_t> own_of_;  // mm_id by pid
  std::array<std::uint64_t, 2> sums_{};
};

}  // namespace memtrace
