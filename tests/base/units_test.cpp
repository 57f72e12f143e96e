#include "base/units.h"

#include <gtest/gtest.h>

namespace memtrace {
namespace {

constexpr std::uint64_t kMost = 18446744073709551615U;

TEST(Units, each_unit_has_its_name) {
  EXPECT_EQ(name_of(Unit::Count), "count");
  EXPECT_EQ(name_of(Unit::BytesPerSecond), "bytes_per_second");
  EXPECT_EQ(name_of(Unit::Stack), "stack");
}

TEST(Units, sizes_are_read_in_multiples_of_1024) {
  EXPECT_EQ(parse_bytes("123"), 123U);
  EXPECT_EQ(parse_bytes("12B"), 12U);
  EXPECT_EQ(parse_bytes("4k"), 4096U);
  EXPECT_EQ(parse_bytes("64KiB"), 65536U);
  EXPECT_EQ(parse_bytes("1.5M"), 1572864U);
  EXPECT_EQ(parse_bytes("2G"), 2147483648U);
  EXPECT_EQ(parse_bytes("1TiB"), 1099511627776U);
  EXPECT_EQ(parse_bytes("9007199254740993"), 9007199254740993U);
}

TEST(Units, what_is_no_size_is_nothing) {
  for (const char* text : {"", "K", "-1", "1KB", "1 K", "1.2.3K", ".", "1e3", "9E", "99999999T"}) {
    EXPECT_FALSE(parse_bytes(text)) << '"' << text << '"';
  }
}

TEST(Units, durations_are_seconds_unless_a_unit_is_given) {
  EXPECT_EQ(parse_duration_ns("5"), 5'000'000'000U);
  EXPECT_EQ(parse_duration_ns("0.5"), 500'000'000U);
  EXPECT_EQ(parse_duration_ns("200ms"), 200'000'000U);
  EXPECT_EQ(parse_duration_ns("7us"), 7'000U);
  EXPECT_EQ(parse_duration_ns("1ns"), 1U);
  EXPECT_EQ(parse_duration_ns("2m"), 120'000'000'000U);
  EXPECT_EQ(parse_duration_ns("1h"), 3'600'000'000'000U);
}

TEST(Units, what_is_no_duration_is_nothing) {
  for (const char* text : {"", "s", "-1s", "1d", "1 s", "99999999999"}) {
    EXPECT_FALSE(parse_duration_ns(text)) << '"' << text << '"';
  }
}

TEST(Units, sizes_are_printed_with_one_digit_after_the_point) {
  EXPECT_EQ(print_bytes(0), "0 B");
  EXPECT_EQ(print_bytes(1023), "1023 B");
  EXPECT_EQ(print_bytes(1024), "1.0 KiB");
  EXPECT_EQ(print_bytes(1572864), "1.5 MiB");
  EXPECT_EQ(print_bytes(kMost), "16.0 EiB");
}

TEST(Units, a_size_that_rounds_up_takes_the_next_unit) {
  EXPECT_EQ(print_bytes(1024 * 1024 - 1), "1.0 MiB");
  EXPECT_EQ(print_bytes(1024 * 1023), "1023.0 KiB");
}

TEST(Units, printed_sizes_are_at_most_ten_characters) {
  for (std::uint64_t bytes = 1; bytes < kMost / 2; bytes = bytes * 2 + 1) {
    EXPECT_LE(print_bytes(bytes).size(), 10U) << bytes;
  }
}

TEST(Units, counts_are_printed_with_thousands_separators) {
  EXPECT_EQ(print_count(0), "0");
  EXPECT_EQ(print_count(999), "999");
  EXPECT_EQ(print_count(1000), "1,000");
  EXPECT_EQ(print_count(1454312), "1,454,312");
  EXPECT_EQ(print_count(kMost), "18,446,744,073,709,551,615");
}

TEST(Units, one_is_not_several) {
  EXPECT_EQ(counted(0, "event", "events"), "0 events");
  EXPECT_EQ(counted(1, "event", "events"), "1 event");
  EXPECT_EQ(counted(2000, "event", "events"), "2,000 events");
}

TEST(Units, durations_are_printed_with_three_digits) {
  EXPECT_EQ(print_duration(0), "0 ns");
  EXPECT_EQ(print_duration(870), "870 ns");
  EXPECT_EQ(print_duration(12'300), "12.3 us");
  EXPECT_EQ(print_duration(4'500'000), "4.5 ms");
  EXPECT_EQ(print_duration(1'250'000'000), "1.25 s");
}

TEST(Units, a_duration_that_rounds_up_takes_the_next_unit) {
  EXPECT_EQ(print_duration(999'499), "999 us");
  EXPECT_EQ(print_duration(999'999), "1 ms");
  EXPECT_EQ(print_duration(999'999'999), "1.00 s");
}

}  // namespace
}  // namespace memtrace
