#include "render/moments.h"

#include <fmt/core.h>

#include "base/units.h"
#include "base/wall_time.h"

namespace memtrace {
namespace {

constexpr std::size_t kYearBytes = 5;     // "2026-"
constexpr std::size_t kSecondsBytes = 8;  // "14:03:59"

}  // namespace

std::string moment_text(const Report& report, std::uint64_t offset_ns) {
  constexpr std::uint64_t kSecondNs = 1'000'000'000;
  const ReportClock& clock = report.clock;
  if (clock.shows_wall()) {
    const std::uint64_t wall_ns = clock.wall_start_ns + offset_ns;
    const std::string date = local_date(wall_ns);
    return (date == local_date(clock.wall_start_ns) ? "" : date.substr(kYearBytes) + " ") +
           local_time(wall_ns);
  }
  if (clock.shown == ClockKind::Mono) {
    const std::uint64_t time_ns = report.start_ns + offset_ns;
    return fmt::format("{}.{:06}", time_ns / kSecondNs, time_ns % kSecondNs / 1000);
  }
  return print_duration(offset_ns);
}

std::string moment_header(const Report& report) {
  if (report.clock.shows_wall()) {
    return "time";
  }
  return report.clock.shown == ClockKind::Mono ? "mono" : "at";
}

std::string moment_column(const Report& report) {
  if (report.clock.shows_wall()) {
    return "time";
  }
  return report.clock.shown == ClockKind::Mono ? "mono_ns" : "";
}

Cell moment_cell(const Report& report, const Cell& offset_ns) {
  const auto* offset = std::get_if<std::uint64_t>(&offset_ns);
  if (offset == nullptr) {
    return {};
  }
  if (report.clock.shows_wall()) {
    return rfc3339(report.clock.wall_start_ns + *offset);
  }
  return report.start_ns + *offset;
}

std::string span_text(const Report& report) {
  if (report.end_ns <= report.start_ns) {
    return "";
  }
  std::string text = print_duration(report.end_ns - report.start_ns);
  if (const std::uint64_t start_ns = report.clock.wall_start_ns; start_ns != 0) {
    text += " from " + local_date(start_ns) + " " + local_time(start_ns).substr(0, kSecondsBytes) +
            " " + local_zone(start_ns);
  }
  return text;
}

}  // namespace memtrace
