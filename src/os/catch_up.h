// A thread that must keep up with the machine: while it is behind, and for a share of the time, it
// comes before all threads that are not in real time.
#pragma once

#include <cstdint>

namespace memtrace {

// How long a thread that has fallen behind may run before all others: a share of each period, so
// that the machine is never starved by its observer.
class PriorityBudget {
 public:
  // In nanoseconds. The share is of one CPU.
  static constexpr std::uint64_t kPeriodNs = 50'000'000;
  static constexpr std::uint64_t kShareNs = 20'000'000;

  // Whether the thread may have priority now. Both times only grow: the time of day, and the CPU
  // time that the thread has used.
  bool allows(bool is_behind, std::uint64_t now_ns, std::uint64_t used_ns) {
    if (now_ns - period_began_ns_ >= kPeriodNs) {
      period_began_ns_ = now_ns;
      used_at_begin_ns_ = used_ns;
    }
    return is_behind && used_ns - used_at_begin_ns_ < kShareNs;
  }

 private:
  std::uint64_t period_began_ns_ = 0;
  std::uint64_t used_at_begin_ns_ = 0;
};

// Only for the thread that made it. Where each session has its share of the CPUs (autogroup,
// sched(7)), a nice value decides nothing between sessions: beside one at nice -15, a recorder got
// 3 % of a CPU, and lost 70 % of the events.
class CatchUp {
 public:
  CatchUp() = default;
  CatchUp(const CatchUp&) = delete;
  CatchUp& operator=(const CatchUp&) = delete;
  CatchUp(CatchUp&&) = delete;
  CatchUp& operator=(CatchUp&&) = delete;
  ~CatchUp();

  // A thread that has been behind stays ready for so long: without priority while it sleeps, it
  // would wake up late, and be behind again.
  static constexpr std::uint64_t kMemoryNs = 5'000'000'000;

  // To be called often: a thread that does not come back here keeps what it has. Without the
  // permission (CAP_SYS_NICE) nothing changes.
  void keep(bool is_behind);

 private:
  void set(bool has_priority);

  PriorityBudget budget_;
  std::uint64_t behind_at_ns_ = 0;  // 0: not lately
  bool has_priority_ = false;
  bool is_refused_ = false;
};

}  // namespace memtrace
