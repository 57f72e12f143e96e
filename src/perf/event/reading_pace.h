// How long the reader of a ring waits before it looks again. The kernel wakes it at a quarter of
// the ring, whatever it waits for.
#pragma once

#include <cstdint>

namespace memtrace {

class ReadingPace {
 public:
  // In a quiet time this bounds how old a record can get before it is seen.
  static constexpr int kIdleMilliseconds = 100;
  // The same while somebody reads along. All rings are looked at before a record is given out, and
  // the merge waits another 20 ms: lines come within 200 ms with room to spare.
  static constexpr int kWaitedForMilliseconds = 50;
  // Once any ring has records, all are looked at so often: the records wait for it, and what lies
  // in the ring is read while it is in the processor's cache.
  static constexpr int kBusyMilliseconds = 5;
  // The same while few come: what they fill is still in the cache then, and waking up costs more
  // than reading them.
  static constexpr int kCalmMilliseconds = 20;
  static constexpr std::uint64_t kFewBytesPerMillisecond = 8192;

  // `is_prompt`: records are to be seen within milliseconds, at any time. `is_patient`: they may
  // get as old as in a quiet time, which saves the processor waking up.
  ReadingPace(bool is_prompt, bool somebody_waits, bool is_patient = false)
      : is_prompt_(is_prompt),
        is_patient_(is_patient),
        idle_ms_(somebody_waits ? kWaitedForMilliseconds : kIdleMilliseconds) {}

  // After each look: the bytes that had come since the last one.
  void note(std::uint64_t bytes, std::uint64_t now_ns) {
    constexpr std::uint64_t kMillisecondNs = 1'000'000;
    const std::uint64_t waited_ns = now_ns - looked_at_ns_;
    is_calm_ = bytes * kMillisecondNs < kFewBytesPerMillisecond * waited_ns;
    looked_at_ns_ = now_ns;
  }

  // `is_busy`: some ring has had records lately.
  int milliseconds(bool is_busy) const {
    if (is_patient_ && !is_prompt_) {
      return idle_ms_;
    }
    if (is_prompt_ || (is_busy && !is_calm_)) {
      return kBusyMilliseconds;
    }
    return is_busy ? kCalmMilliseconds : idle_ms_;
  }

 private:
  bool is_prompt_ = false;
  bool is_patient_ = false;
  int idle_ms_ = 0;
  bool is_calm_ = false;
  std::uint64_t looked_at_ns_ = 0;
};

}  // namespace memtrace
