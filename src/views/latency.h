// How long something took, many times over: sum, extremes and percentiles in a few hundred bytes.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

namespace memtrace {

// Percentiles are read off buckets that are a sixteenth of their value wide: they are at most 6%
// too high, and never beyond the largest value. All else is exact.
class LatencySummary {
 public:
  void add(std::uint64_t duration_ns, std::uint64_t weight) {
    min_ns_ = count_ == 0 ? duration_ns : std::min(min_ns_, duration_ns);
    max_ns_ = std::max(max_ns_, duration_ns);
    count_ += weight;
    sum_ns_ += duration_ns * weight;
    bucket(bucket_of(duration_ns)) += weight;
  }

  LatencySummary& operator+=(const LatencySummary& other) {
    if (other.count_ == 0) {
      return *this;
    }
    min_ns_ = count_ == 0 ? other.min_ns_ : std::min(min_ns_, other.min_ns_);
    max_ns_ = std::max(max_ns_, other.max_ns_);
    count_ += other.count_;
    sum_ns_ += other.sum_ns_;
    for (const auto& [index, count] : other.buckets_) {
      bucket(index) += count;
    }
    return *this;
  }

  std::uint64_t count() const { return count_; }

  std::uint64_t sum_ns() const { return sum_ns_; }

  std::uint64_t min_ns() const { return min_ns_; }

  std::uint64_t max_ns() const { return max_ns_; }

  // 0 when there was nothing.
  std::uint64_t average_ns() const { return count_ == 0 ? 0 : sum_ns_ / count_; }

  // The value that `percent` of all do not exceed; 0 when there was nothing.
  std::uint64_t percentile_ns(std::uint64_t percent) const {
    const std::uint64_t wanted = (count_ * percent + 99) / 100;
    std::uint64_t seen = 0;
    for (const auto& [index, count] : buckets_) {
      seen += count;
      if (seen >= wanted) {
        return std::clamp(highest_of(index), min_ns_, max_ns_);
      }
    }
    return max_ns_;
  }

 private:
  using Bucket = std::pair<std::uint32_t, std::uint64_t>;  // index, count

  static constexpr unsigned kStepBits = 4;
  static constexpr std::uint64_t kSteps = std::uint64_t{1} << kStepBits;

  // Below kSteps each value has a bucket; above, each power of two is cut into kSteps.
  static std::uint32_t bucket_of(std::uint64_t value) {
    if (value < kSteps) {
      return static_cast<std::uint32_t>(value);
    }
    const auto shift = static_cast<unsigned>(std::bit_width(value)) - kStepBits - 1;
    return static_cast<std::uint32_t>((shift + 1) * kSteps + ((value >> shift) & (kSteps - 1)));
  }

  static std::uint64_t highest_of(std::uint32_t index) {
    if (index < kSteps) {
      return index;
    }
    const auto shift = static_cast<unsigned>(index / kSteps) - 1;
    const std::uint64_t low = (kSteps + index % kSteps) << shift;
    return low + ((std::uint64_t{1} << shift) - 1);
  }

  std::uint64_t& bucket(std::uint32_t index) {
    const auto at = std::lower_bound(
        buckets_.begin(), buckets_.end(), index, [](const Bucket& left, std::uint32_t right) {
          return left.first < right;
        });
    if (at != buckets_.end() && at->first == index) {
      return at->second;
    }
    return buckets_.insert(at, {index, 0})->second;
  }

  std::uint64_t count_ = 0;
  std::uint64_t sum_ns_ = 0;
  std::uint64_t min_ns_ = 0;
  std::uint64_t max_ns_ = 0;
  std::vector<Bucket> buckets_;  // in ascending order, none is empty
};

}  // namespace memtrace
