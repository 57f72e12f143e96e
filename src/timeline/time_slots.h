// A bounded number of equal slots of time from a start on. When a time lies beyond the last one,
// slots are joined two by two, as often as needed.
#pragma once

#include <cstddef>
#include <cstdint>

namespace memtrace {

class TimeSlots {
 public:
  static constexpr std::size_t kMostSlots = 200;

  void start(std::uint64_t time_ns) { start_ns_ = time_ns; }

  // How often all slots were joined in pairs to have one for this time.
  unsigned reach(std::uint64_t time_ns) {
    unsigned joined = 0;
    while (slot_of(time_ns) >= kMostSlots) {
      width_ns_ *= 2;
      ++joined;
    }
    return joined;
  }

  // What came before the start is of the first slot.
  std::uint32_t slot_of(std::uint64_t time_ns) const {
    const std::uint64_t since_ns = time_ns > start_ns_ ? time_ns - start_ns_ : 0;
    return static_cast<std::uint32_t>(since_ns / width_ns_);
  }

  std::uint64_t start_ns() const { return start_ns_; }

  std::uint64_t width_ns() const { return width_ns_; }

 private:
  std::uint64_t start_ns_ = 0;
  std::uint64_t width_ns_ = 1'000'000;
};

}  // namespace memtrace
