// How values are distributed: by powers of two, or in steps of equal width.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "report/report.h"

namespace memtrace {

class ValueHistogram {
 public:
  // step 0: powers of two; bucket 0 holds 0, bucket n holds 2^(n-1) to 2^n - 1.
  explicit ValueHistogram(std::uint64_t step = 0) : step_(step) {}

  void add(std::uint64_t value, std::uint64_t weight) {
    if (step_ == 0) {
      powers_[static_cast<std::size_t>(std::bit_width(value))] += weight;
    } else {
      steps_[value / step_] += weight;
    }
  }

  ValueHistogram& operator+=(const ValueHistogram& other) {
    for (std::size_t bucket = 0; bucket < powers_.size(); ++bucket) {
      powers_[bucket] += other.powers_[bucket];
    }
    for (const auto& [index, count] : other.steps_) {
      steps_[index] += count;
    }
    return *this;
  }

  void clear() {
    powers_ = {};
    steps_.clear();
  }

  // Empty buckets between the first and the last stay, but for long runs of equal steps.
  Histogram histogram(std::string title, Unit unit) const {
    Histogram histogram{.title = std::move(title), .unit = unit, .buckets = {}};
    if (step_ == 0) {
      add_powers(histogram);
    }
    for (const auto& [index, count] : steps_) {
      histogram.buckets.push_back({index * step_, index * step_ + (step_ - 1), count});
    }
    return histogram;
  }

 private:
  void add_powers(Histogram& histogram) const {
    std::size_t limit = powers_.size();
    while (limit > 0 && powers_[limit - 1] == 0) {
      --limit;
    }
    std::size_t bucket = 0;
    while (bucket < limit && powers_[bucket] == 0) {
      ++bucket;
    }
    for (; bucket < limit; ++bucket) {
      const std::uint64_t low = bucket == 0 ? 0 : std::uint64_t{1} << (bucket - 1);
      const std::uint64_t high = bucket == 0 ? 0 : low + (low - 1);
      histogram.buckets.push_back({low, high, powers_[bucket]});
    }
  }

  std::uint64_t step_ = 0;
  std::array<std::uint64_t, 65> powers_{};
  std::map<std::uint64_t, std::uint64_t> steps_;
};

}  // namespace memtrace
