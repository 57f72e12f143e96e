#include "base/units.h"

#include <fmt/core.h>

#include <array>
#include <cmath>
#include <cstdlib>

#include "base/text.h"

namespace memtrace {
namespace {

constexpr double kLargest = 9.0e18;  // just under 2^63: everything above is nonsense as a size

struct Suffix {
  std::string_view name;
  double factor;
};

// A decimal number followed by one of the suffixes; nothing when negative, too large or unknown.
template <std::size_t N>
std::optional<std::uint64_t> parse_scaled(std::string_view text,
                                          const std::array<Suffix, N>& suffixes) {
  const std::string copy(text);
  const std::size_t digits = copy.find_first_not_of("0123456789.");
  const std::string number = copy.substr(0, digits);
  const std::string unit = digits == std::string::npos ? "" : copy.substr(digits);
  char* end = nullptr;
  const double value = std::strtod(number.c_str(), &end);
  if (number.empty() || *end != '\0') {
    return std::nullopt;
  }
  const auto whole = parse_number(number);
  for (const Suffix& suffix : suffixes) {
    if (suffix.name != unit || value * suffix.factor >= kLargest) {
      continue;
    }
    if (whole) {  // all factors are whole too, and a double has no digits beyond 2^53
      return *whole * static_cast<std::uint64_t>(suffix.factor);
    }
    return static_cast<std::uint64_t>(std::llround(value * suffix.factor));
  }
  return std::nullopt;
}

constexpr double kKib = 1024.0;
constexpr auto kByteSuffixes = std::to_array<Suffix>({
    {"", 1},
    {"B", 1},
    {"k", kKib},
    {"K", kKib},
    {"KiB", kKib},
    {"M", kKib* kKib},
    {"MiB", kKib* kKib},
    {"G", kKib* kKib* kKib},
    {"GiB", kKib* kKib* kKib},
    {"T", kKib* kKib* kKib* kKib},
    {"TiB", kKib* kKib* kKib* kKib},
});
constexpr auto kTimeSuffixes = std::to_array<Suffix>({
    {"", 1e9},
    {"s", 1e9},
    {"ns", 1},
    {"us", 1e3},
    {"ms", 1e6},
    {"m", 60e9},
    {"h", 3600e9},
});

}  // namespace

std::string_view name_of(Unit unit) {
  constexpr auto kNames = std::to_array<std::string_view>({"count",
                                                           "bytes",
                                                           "ns",
                                                           "percent",
                                                           "per_second",
                                                           "bytes_per_second",
                                                           "number",
                                                           "address",
                                                           "text",
                                                           "stack",
                                                           "ns",
                                                           "share"});
  return kNames.at(static_cast<std::size_t>(unit));
}

std::optional<std::uint64_t> parse_bytes(std::string_view text) {
  return parse_scaled(text, kByteSuffixes);
}

std::optional<std::uint64_t> parse_duration_ns(std::string_view text) {
  return parse_scaled(text, kTimeSuffixes);
}

std::string print_bytes(std::uint64_t bytes) {
  constexpr auto kNames = std::to_array<const char*>({"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"});
  if (bytes < 1024) {
    return fmt::format("{} B", bytes);
  }
  double value = static_cast<double>(bytes) / kKib;
  std::size_t name = 0;
  // 1023.95 would print as "1024.0".
  while (value >= 1023.95 && name + 1 < kNames.size()) {
    value /= kKib;
    ++name;
  }
  return fmt::format("{:.1f} {}", value, kNames.at(name));
}

std::string print_count(std::uint64_t count) {
  std::string digits = std::to_string(count);
  for (std::size_t place = digits.size(); place > 3; place -= 3) {
    digits.insert(place - 3, 1, ',');
  }
  return digits;
}

std::string counted(std::uint64_t count, std::string_view one, std::string_view many) {
  return print_count(count) + " " + std::string(count == 1 ? one : many);
}

std::string print_duration(std::uint64_t duration_ns) {
  const auto value = static_cast<double>(duration_ns);
  if (duration_ns < 1000) {
    return fmt::format("{} ns", duration_ns);
  }
  if (value < 999.5e3) {
    return fmt::format("{:.3g} us", value / 1e3);
  }
  if (value < 999.5e6) {
    return fmt::format("{:.3g} ms", value / 1e6);
  }
  return fmt::format("{:.2f} s", value / 1e9);
}

}  // namespace memtrace
