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

// What memtrace was started with, and what it starts is to have.
inline int nice_at_start() {
  static const int nice = ::getpriority(PRIO_PROCESS, 0);
  return nice;
}

// For the thread that sorts and writes what others record, from the first moment to the last: at
// nice 0 between 200 busy threads it took 4 s until it looked at its target, 7 s to open its file,
// a minute for half a million records, and 3 s to exit.
inline void hurry_main_thread() {
  (void)nice_at_start();
  hurry_this_thread();
}

// While it lives, the calling thread comes before all that are not in real time: hundreds of short
// system calls between a hundred busy threads of the traced program would get a hundredth of the
// CPU, whatever the nice value where each session has its share (autogroup, sched(7)). For work
// that is bounded by their number.

class HurriedThread {
 public:
  HurriedThread() : nice_(::getpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()))) {
    const sched_param lowest{.sched_priority = 1};
    const bool is_ordinary = ::sched_getscheduler(0) == SCHED_OTHER;
    is_real_time_ =
        is_ordinary && ::sched_setscheduler(0, SCHED_RR | SCHED_RESET_ON_FORK, &lowest) == 0;
    if (is_ordinary && !is_real_time_) {
      hurry_this_thread();
    }
  }

  HurriedThread(const HurriedThread&) = delete;
  HurriedThread& operator=(const HurriedThread&) = delete;
  HurriedThread(HurriedThread&&) = delete;
  HurriedThread& operator=(HurriedThread&&) = delete;

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
