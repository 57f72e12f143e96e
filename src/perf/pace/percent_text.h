// A share in messages.
#pragma once

#include <fmt/core.h>

#include <string>

namespace memtrace {

// "2.3", "48"
inline std::string percent_text(double share) {
  constexpr double kPercent = 100;
  constexpr double kWhole = 10;
  const double percent = share * kPercent;
  return percent < kWhole ? fmt::format("{:.2g}", percent) : fmt::format("{:.0f}", percent);
}

}  // namespace memtrace
