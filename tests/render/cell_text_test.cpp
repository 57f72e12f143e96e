#include "render/cell_text.h"

#include <gtest/gtest.h>

#include <limits>

namespace memtrace {
namespace {

constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();

std::string printed(Unit unit, const Cell& cell) {
  return print_cell(Report(), unit, cell);
}

TEST(CellText, figures_are_printed_in_their_unit) {
  EXPECT_EQ(printed(Unit::Count, std::uint64_t{1454312}), "1,454,312");
  EXPECT_EQ(printed(Unit::Bytes, std::uint64_t{1572864}), "1.5 MiB");
  EXPECT_EQ(printed(Unit::Nanoseconds, std::uint64_t{12300}), "12.3 us");
  EXPECT_EQ(printed(Unit::Percent, 12.34), "12.3%");
  EXPECT_EQ(printed(Unit::PerSecond, 1234.56), "1,235/s");
  EXPECT_EQ(printed(Unit::PerSecond, 34.56), "34.6/s");
  EXPECT_EQ(printed(Unit::BytesPerSecond, 2048.0), "2.0 KiB/s");
  EXPECT_EQ(printed(Unit::Number, std::uint64_t{1234567}), "1234567");
  EXPECT_EQ(printed(Unit::Address, std::uint64_t{0xffff888000000000}), "0xffff888000000000");
}

TEST(CellText, twenty_digits_are_printed_in_full) {
  EXPECT_EQ(printed(Unit::Count, kMost), "18,446,744,073,709,551,615");
  EXPECT_EQ(printed(Unit::Number, kMost), "18446744073709551615");
}

TEST(CellText, negative_figures_keep_their_unit) {
  EXPECT_EQ(printed(Unit::Bytes, std::int64_t{-4096}), "-4.0 KiB");
  EXPECT_EQ(printed(Unit::Bytes, -4096.0), "-4.0 KiB");
  EXPECT_EQ(printed(Unit::Number, std::numeric_limits<std::int64_t>::min()),
            "-9223372036854775808");
}

TEST(CellText, fractions_round_and_carry) {
  EXPECT_EQ(printed(Unit::Count, 999.96), "1,000.0");
  EXPECT_EQ(printed(Unit::Percent, 99.96), "100.0%");
}

TEST(CellText, numbers_that_are_none_do_no_harm) {
  EXPECT_EQ(printed(Unit::Count, std::numeric_limits<double>::quiet_NaN()), "-");
  EXPECT_EQ(printed(Unit::Bytes, std::numeric_limits<double>::infinity()), "inf");
  EXPECT_EQ(printed(Unit::Bytes, 1e300), "1e+300");
}

TEST(CellText, what_is_not_known_is_a_dash) {
  EXPECT_EQ(printed(Unit::Count, Cell()), "-");
  EXPECT_EQ(printed(Unit::Text, ""), "-");
  EXPECT_EQ(printed(Unit::Text, LocationId{5}), "-");
}

TEST(CellText, a_location_is_its_innermost_function) {
  Report report;
  report.locations[LocationId{5}] = {{.function = "inner", .inlined = true}, {.function = "outer"}};
  EXPECT_EQ(print_cell(report, Unit::Text, LocationId{5}), "inner");
}

TEST(CellText, a_frame_tells_its_line_or_else_its_module) {
  EXPECT_EQ(
      print_frame({.function = "main", .module = "demo", .file = "/src/a.cpp", .line = 42}, 80),
      "main (a.cpp:42)");
  EXPECT_EQ(print_frame({.function = "main", .file = "a.cpp"}, 80), "main (a.cpp)");
  EXPECT_EQ(print_frame({.function = "read", .module = "/lib/libc.so.6"}, 80), "read [libc.so.6]");
  EXPECT_EQ(print_frame({.function = "f"}, 80), "f");
}

TEST(CellText, a_kernel_frame_always_tells_its_module) {
  EXPECT_EQ(print_frame({.function = "kfree", .kernel = true}, 80), "kfree [kernel]");
  EXPECT_EQ(
      print_frame(
          {.function = "kfree", .module = "[xfs]", .file = "mm/slub.c", .line = 1, .kernel = true},
          80),
      "kfree (slub.c:1) [xfs]");
}

TEST(CellText, an_inlined_frame_says_so) {
  EXPECT_EQ(print_frame({.function = "f", .file = "a.h", .line = 3, .inlined = true}, 80),
            "f (inlined) (a.h:3)");
}

TEST(CellText, a_frame_without_a_name_does_not_repeat_its_module) {
  EXPECT_EQ(print_frame({.function = "libc.so.6+0x1234", .module = "libc.so.6"}, 80),
            "libc.so.6+0x1234");
}

TEST(CellText, a_long_name_gives_way_to_the_line) {
  const Frame frame{
      .function = std::string(50, 'a') + std::string(50, 'z'), .file = "a.cpp", .line = 42};
  EXPECT_EQ(print_frame(frame, 30), "aaaaaaaa...zzzzzzzz (a.cpp:42)");
}

}  // namespace
}  // namespace memtrace
