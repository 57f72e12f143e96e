// Units of the numbers in a report, and how people write and read them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace memtrace {

enum class Unit {
  Count,
  Bytes,
  Nanoseconds,
  Percent,
  PerSecond,
  BytesPerSecond,
  Number,
  Address,
  Text,
  Stack,
  Moment,  // when something happened, in nanoseconds since the report began
  Share    // 0 to 1; for people a percentage
};

// The unit's name in JSON: "count", "bytes", "ns", "percent", "per_second", "bytes_per_second",
// "number", "address", "text", "stack", "ns" for a moment, "share".
std::string_view name_of(Unit unit);

// "4K", "64KiB", "1.5M", "2G", "123": multiples of 1024. Nothing for anything else.
std::optional<std::uint64_t> parse_bytes(std::string_view text);

// "5", "0.5", "200ms", "3s", "2m", "1h": seconds unless a unit is given; in nanoseconds.
std::optional<std::uint64_t> parse_duration_ns(std::string_view text);

// "512 B", "4.0 KiB", "1.5 MiB", "12.3 GiB": at most 10 characters.
std::string print_bytes(std::uint64_t bytes);

// "1,454,312".
std::string print_count(std::uint64_t count);

// counted(1, "event", "events") is "1 event".
std::string counted(std::uint64_t count, std::string_view one, std::string_view many);

// "870 ns", "12.3 us", "4.5 ms", "1.25 s".
std::string print_duration(std::uint64_t duration_ns);

}  // namespace memtrace
