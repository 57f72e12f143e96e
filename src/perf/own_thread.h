// Of the calling thread alone.
#pragma once

#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <string>

namespace memtrace {

// What the kernel calls it, as filters compare it.
inline std::string own_comm() {
  std::array<char, 16> name{};  // TASK_COMM_LEN
  ::prctl(PR_GET_NAME, name.data());
  return name.data();
}

// setpriority(2): threads have their own nice value on Linux. Whoever may not do so keeps what he
// has.
inline void hurry_this_thread() {
  constexpr int kMostUrgent = -20;
  (void)::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), kMostUrgent);
}

}  // namespace memtrace
