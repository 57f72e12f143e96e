// A figure over time in a bounded number of points: when there are too many, every second one goes
// and the rest are spaced twice as wide. Each span's largest value is what is kept of it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace memtrace {

class SampledSeries {
 public:
  void add(std::uint64_t time_ns, std::uint64_t value) {
    const std::uint64_t slot = time_ns / spacing_ns_ * spacing_ns_;
    if (!points_.empty() && points_.back().first >= slot) {
      points_.back().second = std::max(points_.back().second, value);
      return;
    }
    points_.emplace_back(slot, value);
    if (points_.size() > kMaxPoints) {
      thin_out();
    }
  }

  const std::vector<std::pair<std::uint64_t, std::uint64_t>>& points() const { return points_; }

 private:
  static constexpr std::size_t kMaxPoints = 60;

  void thin_out() {
    spacing_ns_ *= 2;
    std::vector<std::pair<std::uint64_t, std::uint64_t>> points;
    std::swap(points, points_);
    for (const auto& [time_ns, value] : points) {
      add(time_ns, value);
    }
  }

  std::uint64_t spacing_ns_ = 1'000'000;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> points_;
};

}  // namespace memtrace
