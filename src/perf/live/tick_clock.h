// What time it is by the clock of the records.
#pragma once

#include <cstdint>

namespace memtrace {

// Before attr.use_clockid (Linux 4.1) no call reads the clock of the records. The records show it,
// and between them it advances like any other clock; until the first one both count from the start
// of the machine.
class TickClock {
 public:
  // `is_monotonic`: the records' clock is CLOCK_MONOTONIC.
  explicit TickClock(bool is_monotonic) : is_monotonic_(is_monotonic) {}

  // All records up to `complete_ns` have been given out; it is now_ns by CLOCK_MONOTONIC.
  std::uint64_t time_ns(std::uint64_t complete_ns, std::uint64_t now_ns) {
    if (is_monotonic_) {
      return complete_ns;
    }
    if (complete_ns > record_ns_) {
      record_ns_ = complete_ns;
      at_ns_ = now_ns;
    }
    return record_ns_ + (now_ns - at_ns_);
  }

 private:
  bool is_monotonic_;
  // The last known pair of record time and CLOCK_MONOTONIC; both 0 until a record has come.
  std::uint64_t record_ns_ = 0;
  std::uint64_t at_ns_ = 0;
};

}  // namespace memtrace
