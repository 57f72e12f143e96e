// Search in ranges that are sorted by their start and may lie inside each other.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace memtrace {

// The last range that starts at or before `point` and covers it; null when none does. Only a few
// steps back are tried: real tables nest one or two deep, and a broken one must not cost O(n).
template <typename Range>
const Range* find_covering(const std::vector<Range>& sorted, std::uint64_t point) {
  constexpr std::size_t kMaxSteps = 16;
  auto after = std::upper_bound(
      sorted.begin(), sorted.end(), point, [](std::uint64_t value, const Range& range) {
        return value < range.start;
      });
  for (std::size_t step = 0; step < kMaxSteps && after != sorted.begin(); ++step) {
    --after;
    if (point < after->limit) {
      return &*after;
    }
  }
  return nullptr;
}

}  // namespace memtrace
