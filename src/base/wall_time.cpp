#include "base/wall_time.h"

#include <fmt/core.h>

#include <cstdlib>
#include <ctime>

#include "base/text.h"

namespace memtrace {
namespace {

constexpr std::uint64_t kSecondNs = 1'000'000'000;
constexpr std::int64_t kMinuteSeconds = 60;

std::tm local_of(std::uint64_t wall_ns) {
  const auto seconds = static_cast<std::time_t>(wall_ns / kSecondNs);
  std::tm local{};
  ::localtime_r(&seconds, &local);
  return local;
}

std::optional<int> digits(std::string_view& text, std::size_t count) {
  if (text.size() < count ||
      text.substr(0, count).find_first_not_of("0123456789") != std::string_view::npos) {
    return std::nullopt;
  }
  const auto number = parse_number(text.substr(0, count));
  text.remove_prefix(count);
  return number ? std::optional(static_cast<int>(*number)) : std::nullopt;
}

bool take(std::string_view& text, char character) {
  if (text.empty() || text.front() != character) {
    return false;
  }
  text.remove_prefix(1);
  return true;
}

struct TimeOfDay {
  int hour = 0;
  int minute = 0;
  int second = 0;
  std::uint64_t nanoseconds = 0;
};

// Up to nine digits behind the point.
std::optional<std::uint64_t> fraction(std::string_view& text) {
  std::uint64_t value = 0;
  std::uint64_t scale = kSecondNs;
  std::size_t count = 0;
  for (; count < text.size() && text[count] >= '0' && text[count] <= '9'; ++count) {
    scale /= 10;
    value += static_cast<std::uint64_t>(text[count] - '0') * scale;
  }
  text.remove_prefix(count);
  return count == 0 ? std::nullopt : std::optional(value);
}

// "14:03", "14:03:59", "14:03:59.5".
std::optional<TimeOfDay> time_of_day(std::string_view& text) {
  TimeOfDay time;
  const auto hour = digits(text, 2);
  const bool has_minute = take(text, ':');
  const auto minute = has_minute ? digits(text, 2) : std::nullopt;
  if (!hour || !minute || *hour > 23 || *minute > 59) {
    return std::nullopt;
  }
  time.hour = *hour;
  time.minute = *minute;
  if (!take(text, ':')) {
    return time;
  }
  const auto second = digits(text, 2);
  if (!second || *second > 60) {
    return std::nullopt;
  }
  time.second = *second;
  if (take(text, '.')) {
    const auto part = fraction(text);
    if (!part) {
      return std::nullopt;
    }
    time.nanoseconds = *part;
  }
  return time;
}

// "2026-11-23" into a broken-down time.
bool take_date(std::string_view& text, std::tm& when) {
  const auto year = digits(text, 4);
  const bool has_month = year && take(text, '-');
  const auto month = has_month ? digits(text, 2) : std::nullopt;
  const bool has_day = month && take(text, '-');
  const auto day = has_day ? digits(text, 2) : std::nullopt;
  if (!day || *month < 1 || *month > 12 || *day < 1 || *day > 31) {
    return false;
  }
  when.tm_year = *year - 1900;
  when.tm_mon = *month - 1;
  when.tm_mday = *day;
  return true;
}

// "Z", "+01:00": seconds east of Greenwich.
std::optional<std::int64_t> take_zone(std::string_view& text) {
  if (take(text, 'Z')) {
    return 0;
  }
  const bool is_west = take(text, '-');
  if (!is_west && !take(text, '+')) {
    return std::nullopt;
  }
  const auto hours = digits(text, 2);
  const bool has_minutes = hours && take(text, ':');
  const auto minutes = has_minutes ? digits(text, 2) : std::nullopt;
  if (!minutes) {
    return std::nullopt;
  }
  const std::int64_t east = (*hours * kMinuteSeconds + *minutes) * kMinuteSeconds;
  return is_west ? -east : east;
}

void set(std::tm& when, const TimeOfDay& time) {
  when.tm_hour = time.hour;
  when.tm_min = time.minute;
  when.tm_sec = time.second;
  when.tm_isdst = -1;  // mktime(3) finds out
}

std::optional<std::uint64_t> wall_ns(std::time_t seconds, std::uint64_t nanoseconds) {
  if (seconds < 0) {
    return std::nullopt;
  }
  return static_cast<std::uint64_t>(seconds) * kSecondNs + nanoseconds;
}

// Without a date.
std::optional<std::uint64_t> of_day(const TimeOfDay& time, std::uint64_t start_ns) {
  constexpr std::uint64_t kHalfDayNs = std::uint64_t{12} * 3600 * kSecondNs;
  std::tm when = local_of(start_ns);
  set(when, time);
  auto found = wall_ns(::mktime(&when), time.nanoseconds);
  if (found && *found + kHalfDayNs < start_ns) {
    when.tm_mday += 1;
    set(when, time);
    found = wall_ns(::mktime(&when), time.nanoseconds);
  }
  return found;
}

}  // namespace

std::string local_date(std::uint64_t wall_ns) {
  const std::tm local = local_of(wall_ns);
  return fmt::format("{:04}-{:02}-{:02}", local.tm_year + 1900, local.tm_mon + 1, local.tm_mday);
}

std::string local_time(std::uint64_t wall_ns) {
  const std::tm local = local_of(wall_ns);
  return fmt::format("{:02}:{:02}:{:02}.{:06}",
                     local.tm_hour,
                     local.tm_min,
                     local.tm_sec,
                     wall_ns % kSecondNs / 1000);
}

std::string local_zone(std::uint64_t wall_ns) {
  const std::int64_t east = local_of(wall_ns).tm_gmtoff;
  const std::int64_t minutes = std::abs(east) / kMinuteSeconds;
  return fmt::format("{}{:02}:{:02}", east < 0 ? '-' : '+', minutes / 60, minutes % 60);
}

std::string rfc3339(std::uint64_t wall_ns) {
  const std::tm local = local_of(wall_ns);
  return fmt::format("{}T{:02}:{:02}:{:02}.{:09}{}",
                     local_date(wall_ns),
                     local.tm_hour,
                     local.tm_min,
                     local.tm_sec,
                     wall_ns % kSecondNs,
                     local_zone(wall_ns));
}

std::optional<std::uint64_t> parse_wall_time(std::string_view text, std::uint64_t start_ns) {
  std::tm when{};
  const bool has_date = text.size() > 4 && text[4] == '-';
  if (has_date && (!take_date(text, when) || (!take(text, 'T') && !take(text, ' ')))) {
    return std::nullopt;
  }
  const auto time = time_of_day(text);
  if (!time) {
    return std::nullopt;
  }
  const bool has_zone = has_date && !text.empty();
  const auto east = has_zone ? take_zone(text) : std::optional<std::int64_t>(0);
  if (!east || !text.empty()) {
    return std::nullopt;
  }
  if (!has_date) {
    return of_day(*time, start_ns);
  }
  set(when, *time);
  return wall_ns(has_zone ? ::timegm(&when) - *east : ::mktime(&when), time->nanoseconds);
}

bool looks_like_wall_time(std::string_view text) {
  return text.find(':') != std::string_view::npos;
}

}  // namespace memtrace
