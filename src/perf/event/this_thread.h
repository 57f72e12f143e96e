// Settings of the calling thread only.
#pragma once

#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <string>

namespace memtrace {

// What the kernel calls it, as filters compare it.
inline std::string own_comm() {
  std::array<char, 16> name{};  // TASK_COMM_LEN
  ::prctl(PR_GET_NAME, name.data());
  return name.data();
}

// setpriority(2): threads have their own nice value on Linux. Without the permission the thread
// keeps its priority.
inline void hurry_this_thread() {
  constexpr int kHighestPriority = -20;
  (void)::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), kHighestPriority);
}

// While it lives, the calling thread comes before all that are not in real time: hundreds of short
// system calls between a hundred busy threads of the traced program would get a hundredth of the
// CPU, whatever the nice value where each session has its share (autogroup, sched(7)). For work
// that is bounded by their number; what is not is only nicer to itself. Not while a command is
// started, which would be hurried, too.
enum class Haste : std::uint8_t { Nice, RealTime };

class HurriedThread {
 public:
  explicit HurriedThread(Haste haste = Haste::RealTime)
      : nice_(::getpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()))) {
    const sched_param lowest{.sched_priority = 1};
    const bool is_ordinary = ::sched_getscheduler(0) == SCHED_OTHER;
    is_real_time_ = haste == Haste::RealTime && is_ordinary &&
                    ::sched_setscheduler(0, SCHED_RR | SCHED_RESET_ON_FORK, &lowest) == 0;
    if (is_ordinary && !is_real_time_) {
      hurry_this_thread();
    }
  }

  HurriedThread(const HurriedThread&) = delete;
  HurriedThread& operator=(const HurriedThread&) = delete;

  ~HurriedThread() {
    if (is_real_time_) {
      const sched_param none{};
      (void)::sched_setscheduler(0, SCHED_OTHER, &none);
    }
    (void)::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), nice_);
  }

 private:
  int nice_ = 0;
  bool is_real_time_ = false;
};

}  // namespace memtrace
