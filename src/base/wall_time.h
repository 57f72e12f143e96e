// The time of day where the reader is: nanoseconds of CLOCK_REALTIME to words and back.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace memtrace {

// "2026-11-23", "14:03:59.123456", "+01:00".
std::string local_date(std::uint64_t wall_ns);
std::string local_time(std::uint64_t wall_ns);
std::string local_zone(std::uint64_t wall_ns);

// "2026-11-23T14:03:59.123456789+01:00": local, with its zone (RFC 3339).
std::string rfc3339(std::uint64_t wall_ns);

// "14:03", "14:03:59.5": of the day of `start_ns`, or of the next one if that is more than half a
// day before; "2026-11-23 14:03:59", "2026-11-23T14:03:59+01:00", "...Z". Local without a zone.
// Nothing for anything else.
std::optional<std::uint64_t> parse_wall_time(std::string_view text, std::uint64_t start_ns);

// Whether the text looks like a time of day and not like a duration: it has a colon.
bool looks_like_wall_time(std::string_view text);

}  // namespace memtrace
