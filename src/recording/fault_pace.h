// While the whole machine is recorded, memtrace's own page faults are events, too, with a copy of
// its stack each. Work that touches much fresh memory at once would fill the rings with them, and
// events of others would be lost.
#pragma once

#include <sys/resource.h>

#include <chrono>
#include <thread>

namespace memtrace {

// Of one thread's work: rests after a number of faults, so that the rings are emptied meanwhile.
class FaultPace {
 public:
  void keep() {
    constexpr long kFaults = 500;
    constexpr std::chrono::milliseconds kRest{5};
    if (const long faults = own_faults(); faults - rested_at_ >= kFaults) {
      std::this_thread::sleep_for(kRest);
      rested_at_ = faults;
    }
  }

 private:
  static long own_faults() {
    rusage usage{};
    ::getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_minflt;
  }

  long rested_at_ = own_faults();
};

}  // namespace memtrace
