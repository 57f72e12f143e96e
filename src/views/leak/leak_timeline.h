// The time of a recording in 16 to 32 intervals of equal length, the same for all rows of a report:
// when there are too many, two become one.
//
//   |0|1|2|3| ... |31|        67 ms each
//   | 0 | 1 | ... | 15 | 16 | 134 ms each
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace memtrace {

class LeakTimeline {
 public:
  static constexpr std::size_t kMaxIntervals = 32;

  // The interval of this time, which the timeline now reaches to. It begins with the first time.
  std::size_t reach(std::uint64_t time_ns) {
    if (!start_ns_) {
      start_ns_ = time_ns;
    }
    while (number_of(time_ns) >= kMaxIntervals) {
      ++doublings_;
      losses_ = halved(losses_);
    }
    const std::size_t number = number_of(time_ns);
    end_ns_ = std::max(end_ns_, time_ns);
    count_ = doublings_ == counted_doublings_ ? std::max(count_, number + 1) : number + 1;
    counted_doublings_ = doublings_;
    return number;
  }

  // Whether one more row may have detail: it has for ever, so that their memory has a bound.
  bool grant_detail() {
    if (details_ == kMaxDetails) {
      return false;
    }
    ++details_;
    return true;
  }

  static constexpr std::uint32_t kMaxDetails = 65'536;  // of half a KiB each

  // Events are missing: about this time.
  void lose(std::uint64_t time_ns) { losses_ |= std::uint32_t{1} << reach(time_ns); }

  std::uint64_t start_ns() const { return start_ns_.value_or(0); }

  std::uint64_t end_ns() const { return end_ns_; }

  std::uint64_t length_ns() const { return end_ns_ - std::min(end_ns_, start_ns()); }

  std::uint64_t width_ns() const { return std::uint64_t{1} << (kFirstWidth + doublings_); }

  // Intervals that have begun.
  std::size_t count() const { return count_; }

  std::uint32_t doublings() const { return doublings_; }

  bool has_losses() const { return losses_ != 0; }

  // In one of the intervals from `first` to `last`.
  bool lost_in(std::size_t first, std::size_t last) const {
    for (std::size_t number = first; number <= std::min(last, kMaxIntervals - 1); ++number) {
      if ((losses_ >> number & 1U) != 0) {
        return true;
      }
    }
    return false;
  }

  // The interval of a time that the timeline has reached already.
  std::size_t number_of(std::uint64_t time_ns) const {
    return time_ns <= start_ns() ? 0 : (time_ns - start_ns()) >> (kFirstWidth + doublings_);
  }

 private:
  static constexpr std::uint32_t kFirstWidth = 26;  // a power of two, of nanoseconds

  static std::uint32_t halved(std::uint32_t losses) {
    std::uint32_t half = 0;
    for (std::size_t number = 0; number < kMaxIntervals; ++number) {
      half |= (losses >> number & 1U) << (number / 2);
    }
    return half;
  }

  std::optional<std::uint64_t> start_ns_;
  std::uint64_t end_ns_ = 0;
  std::size_t count_ = 0;
  std::uint32_t doublings_ = 0;
  std::uint32_t counted_doublings_ = 0;
  std::uint32_t details_ = 0;
  std::uint32_t losses_ = 0;  // a bit for each interval
};

}  // namespace memtrace
