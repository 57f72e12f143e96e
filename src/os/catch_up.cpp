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

// Back to what sched_setscheduler(2) calls SCHED_OTHER the nice value is as it was before.
void CatchUp::set(bool has_priority) {
  if (has_priority == has_priority_) {
    return;
  }
  const bool was_ordinary = has_priority_ || ::sched_getscheduler(0) == SCHED_OTHER;
  const sched_param parameters{.sched_priority = has_priority ? 1 : 0};
  const int policy = (has_priority ? SCHED_RR : SCHED_OTHER) | SCHED_RESET_ON_FORK;
  is_refused_ = !was_ordinary || ::sched_setscheduler(0, policy, &parameters) != 0;
  has_priority_ = has_priority && !is_refused_;
}

}  // namespace memtrace
