#include "render/text_shapes.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "base/visible.h"
#include "render/cell_text.h"
#include "render/text_line.h"

namespace memtrace {
namespace {

constexpr std::size_t kLongestBar = 50;
constexpr std::size_t kShortestBar = 10;

// Bounds of sizes are powers of two, which read best as they are: 1,024, not 1.0 KiB.
std::string bound(Unit unit, std::uint64_t value) {
  return unit == Unit::Nanoseconds ? print_duration(value) : print_count(value);
}

std::string label_of(Unit unit, const Histogram::Bucket& bucket) {
  if (bucket.low == bucket.high) {
    return "[" + bound(unit, bucket.low) + "]";
  }
  return "[" + bound(unit, bucket.low) + ", " + bound(unit, bucket.high) + "]";
}

// A bucket that is not empty shows: at least one mark.
std::string bar(std::uint64_t count, std::uint64_t largest, std::size_t width) {
  std::size_t marks = 0;
  if (count != 0) {
    const double share = static_cast<double>(count) / static_cast<double>(largest);
    marks = static_cast<std::size_t>(std::lround(share * static_cast<double>(width)));
    marks = std::clamp<std::size_t>(marks, 1, width);
  }
  return "|" + std::string(marks, '@') + std::string(width - marks, ' ') + "|";
}

void print_title(const std::string& title, Unit unit, std::ostream& out) {
  out << visible(title);
  if (unit == Unit::Bytes) {
    out << " (bytes)";
  }
  out << '\n';
}

}  // namespace

void print_histogram(const Histogram& histogram, std::size_t width, std::ostream& out) {
  print_title(histogram.title, histogram.unit, out);
  if (histogram.buckets.empty()) {
    out << "(no values)\n";
    return;
  }
  std::uint64_t largest = 0;
  std::size_t label_width = 0;
  for (const auto& bucket : histogram.buckets) {
    largest = std::max(largest, bucket.count);
    label_width = std::max(label_width, label_of(histogram.unit, bucket).size());
  }
  const std::size_t count_width = print_count(largest).size();
  const std::size_t taken = label_width + count_width + 5;  // two gaps and the bar's two ends
  const std::size_t bar_width =
      std::clamp(width - std::min(width, taken), kShortestBar, kLongestBar);
  for (const auto& bucket : histogram.buckets) {
    out << pad_right(label_of(histogram.unit, bucket), label_width) << "  "
        << pad_left(print_count(bucket.count), count_width) << ' '
        << bar(bucket.count, largest, bar_width) << '\n';
  }
}

void print_series(const Series& series, std::uint64_t start_ns, std::ostream& out) {
  print_title(series.title, Unit::Number, out);
  if (series.points.empty()) {
    out << "(no points)\n";
    return;
  }
  std::vector<std::pair<std::string, std::string>> lines = {{"at", "value"}};
  std::size_t time_width = 0;
  std::size_t value_width = 0;
  for (const auto& [time_ns, value] : series.points) {
    const std::uint64_t since_ns = time_ns - std::min(start_ns, time_ns);
    lines.emplace_back(fmt::format("{:.3f} s", static_cast<double>(since_ns) / 1e9),
                       print_figure(series.unit, value));
  }
  for (const auto& [time, value] : lines) {
    time_width = std::max(time_width, time.size());
    value_width = std::max(value_width, value.size());
  }
  for (const auto& [time, value] : lines) {
    out << pad_left(time, time_width) << "  " << pad_left(value, value_width) << '\n';
  }
}

}  // namespace memtrace
