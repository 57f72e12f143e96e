#include "os/catch_up.h"

#include <sched.h>

#include <ctime>

namespace memtrace {
namespace {

std::uint64_t time_of(clockid_t clock) {
  timespec time{};
  (void)::clock_gettime(clock, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000U +
         static_cast<std::uint64_t>(time.tv_nsec);
}

// sched_getscheduler(2) returns the flag with the policy.
bool is_ordinary() {
  return (::sched_getscheduler(0) & ~SCHED_RESET_ON_FORK) == SCHED_OTHER;
}

bool set_policy(int policy, int priority) {
  const sched_param parameters{.sched_priority = priority};
  return ::sched_setscheduler(0, policy, &parameters) == 0;
}

}  // namespace

CatchUp::~CatchUp() {
  set(false);
}

void CatchUp::keep(bool is_behind) {
  if (is_refused_ || (!is_behind && behind_at_ns_ == 0)) {
    return;
  }
  const std::uint64_t now_ns = time_of(CLOCK_MONOTONIC);
  if (is_behind) {
    behind_at_ns_ = now_ns;
  } else if (now_ns - behind_at_ns_ >= kMemoryNs) {
    behind_at_ns_ = 0;
  }
  set(budget_.allows(behind_at_ns_ != 0, now_ns, time_of(CLOCK_THREAD_CPUTIME_ID)));
}

void CatchUp::set(bool has_priority) {
  if (has_priority == has_priority_) {
    return;
  }
  if (has_priority) {
    is_refused_ = !is_ordinary() || !set_policy(SCHED_RR | SCHED_RESET_ON_FORK, 1);
    has_priority_ = !is_refused_;
    return;
  }
  // Only a privileged thread may clear the flag again (sched_setscheduler(2)).
  has_priority_ = !set_policy(SCHED_OTHER, 0) && !set_policy(SCHED_OTHER | SCHED_RESET_ON_FORK, 0);
}

}  // namespace memtrace
