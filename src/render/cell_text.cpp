#include "render/cell_text.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "base/visible.h"
#include "render/cell_names.h"
#include "render/moments.h"
#include "render/text_line.h"

namespace memtrace {
namespace {

constexpr double kLargestInteger = 9.0e18;  // just under 2^63
constexpr std::size_t kFileNameWidth = 40;

std::string print_signed(Unit unit, std::int64_t value) {
  const auto magnitude = static_cast<std::uint64_t>(value);
  return value < 0 ? "-" + print_figure(unit, 0 - magnitude) : print_figure(unit, magnitude);
}

// "1,234.5": one digit after the point.
std::string print_tenths(double value) {
  const auto tenths = static_cast<std::uint64_t>(std::llround(value * 10));
  return print_count(tenths / 10) + "." + std::to_string(tenths % 10);
}

std::string print_double(Unit unit, double value) {
  if (!std::isfinite(value) || std::abs(value) >= kLargestInteger / 10) {
    return std::isnan(value) ? "-" : fmt::format("{:.3g}", value);
  }
  if (value < 0) {
    return "-" + print_double(unit, -value);
  }
  switch (unit) {
    case Unit::Bytes:
    case Unit::Nanoseconds:
    case Unit::BytesPerSecond:
      return print_figure(unit, static_cast<std::uint64_t>(std::llround(value)));
    case Unit::Percent:
      return print_tenths(value) + "%";
    case Unit::PerSecond:  // a tenth of a hundred says nothing and takes room from the names
      return (value < 100 ? print_tenths(value)
                          : print_count(static_cast<std::uint64_t>(std::llround(value)))) +
             "/s";
    default:
      return print_tenths(value);
  }
}

std::string_view base_name(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

std::string module_suffix(const Frame& frame) {
  const std::string module =
      frame.module.empty() && frame.kernel ? "[kernel]" : std::string(base_name(frame.module));
  // A frame without a name is module+0xoffset: it says where it is.
  if (module.empty() || frame.function.starts_with(module)) {
    return "";
  }
  return module.starts_with('[') ? " " + module : " [" + module + "]";
}

std::string frame_suffix(const Frame& frame) {
  std::string suffix = frame.inlined ? " (inlined)" : "";
  if (!frame.file.empty()) {
    const std::string file = cut_middle(base_name(frame.file), kFileNameWidth);
    suffix +=
        frame.line == 0 ? fmt::format(" ({})", file) : fmt::format(" ({}:{})", file, frame.line);
  }
  if (frame.file.empty() || frame.kernel) {
    suffix += module_suffix(frame);
  }
  return suffix;
}

struct CellText {
  const Report& report;
  Unit unit;

  std::string operator()(std::monostate) const { return "-"; }

  std::string operator()(std::uint64_t value) const {
    return unit == Unit::Moment ? moment_text(report, value) : print_figure(unit, value);
  }

  std::string operator()(std::int64_t value) const { return print_signed(unit, value); }

  std::string operator()(double value) const { return print_double(unit, value); }

  std::string operator()(StackId) const { return ""; }

  std::string operator()(LocationId id) const {
    const std::string name = location_name(report, id);
    return name.empty() ? "-" : visible(name);
  }

  std::string operator()(const std::string& text) const {
    return text.empty() ? "-" : visible(text);
  }
};

}  // namespace

std::string print_figure(Unit unit, std::uint64_t value) {
  switch (unit) {
    case Unit::Bytes:
      return print_bytes(value);
    case Unit::BytesPerSecond:
      return print_bytes(value) + "/s";
    case Unit::Nanoseconds:
    case Unit::Moment:
      return print_duration(value);
    case Unit::Percent:
      return print_count(value) + "%";
    case Unit::PerSecond:
      return print_count(value) + "/s";
    case Unit::Address:
      return fmt::format("0x{:x}", value);
    case Unit::Number:  // a pid or an order is no quantity: no separators
      return std::to_string(value);
    default:
      return print_count(value);
  }
}

std::string print_cell(const Report& report, Unit unit, const Cell& cell) {
  return std::visit(CellText{report, unit}, cell);
}

std::string print_frame(const Frame& frame, std::size_t width) {
  const std::string suffix = visible(frame_suffix(frame));
  const std::size_t left = width - std::min(width, width_of(suffix));
  return cut_middle(visible(frame.function), left) + suffix;
}

}  // namespace memtrace
