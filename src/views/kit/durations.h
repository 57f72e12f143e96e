// How long something took, over and over: sum, extremes and percentiles in a few dozen numbers.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace memtrace {

class Durations {
 public:
  void add(std::uint64_t ns, std::uint64_t weight = 1) {
    add_to_sums(ns, weight);
    add_to_percentiles(ns, weight);
  }

  // The two halves of add(). Percentiles take most of the memory and time: rows that are not asked
  // for them do without.
  void add_to_percentiles(std::uint64_t ns, std::uint64_t weight) {
    bucket(bucket_of(ns)) += weight;
  }

  void add_to_sums(std::uint64_t ns, std::uint64_t weight) {
    count_ += weight;
    total_ns_ += ns * weight;
    min_ns_ = std::min(min_ns_, ns);
    max_ns_ = std::max(max_ns_, ns);
  }

  bool has_percentiles() const { return !buckets_.empty(); }

  Durations& operator+=(const Durations& other) {
    count_ += other.count_;
    total_ns_ += other.total_ns_;
    min_ns_ = std::min(min_ns_, other.min_ns_);
    max_ns_ = std::max(max_ns_, other.max_ns_);
    for (const auto& [index, count] : other.buckets_) {
      bucket(index) += count;
    }
    return *this;
  }

  std::uint64_t count() const { return count_; }

  std::uint64_t total_ns() const { return total_ns_; }

  std::uint64_t average_ns() const { return count_ == 0 ? 0 : total_ns_ / count_; }

  std::uint64_t min_ns() const { return count_ == 0 ? 0 : min_ns_; }

  std::uint64_t max_ns() const { return max_ns_; }

  // The smallest duration that `percent` of all do not exceed; up to 1/16 too long.
  std::uint64_t percentile_ns(std::uint64_t percent) const {
    const std::uint64_t wanted = (count_ * percent + 99) / 100;
    std::uint64_t seen = 0;
    for (const auto& [index, count] : buckets_) {
      seen += count;
      if (seen >= wanted) {
        return std::clamp(last_ns_of(index), min_ns(), max_ns_);
      }
    }
    return max_ns_;
  }

 private:
  static constexpr unsigned kStepBits = 4;  // each power of two is cut into 16 steps
  static constexpr std::uint64_t kSteps = 1U << kStepBits;

  static std::uint32_t bucket_of(std::uint64_t ns) {
    if (ns < kSteps) {
      return static_cast<std::uint32_t>(ns);
    }
    const auto shift = static_cast<unsigned>(std::bit_width(ns)) - 1 - kStepBits;
    return static_cast<std::uint32_t>((shift + 1) * kSteps + ((ns >> shift) - kSteps));
  }

  static std::uint64_t last_ns_of(std::uint32_t index) {
    if (index < kSteps) {
      return index;
    }
    const std::uint64_t shift = index / kSteps - 1;
    return ((kSteps + index % kSteps) << shift) + ((std::uint64_t{1} << shift) - 1);
  }

  std::uint64_t& bucket(std::uint32_t index) {
    const auto place = std::ranges::lower_bound(
        buckets_, index, {}, [](const auto& entry) { return entry.first; });
    if (place != buckets_.end() && place->first == index) {
      return place->second;
    }
    return buckets_.insert(place, {index, 0})->second;
  }

  std::uint64_t count_ = 0;
  std::uint64_t total_ns_ = 0;
  std::uint64_t min_ns_ = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t max_ns_ = 0;
  std::vector<std::pair<std::uint32_t, std::uint64_t>> buckets_;  // sorted by index
};

}  // namespace memtrace
