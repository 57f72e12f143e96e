#include "cli/output/interval_lines.h"

#include <gtest/gtest.h>

namespace memtrace {
namespace {

TEST(IntervalLines, row_is_when_it_ended_its_totals_and_what_is_missing) {
  Report interval{.view = "vmscan", .start_ns = 1000, .end_ns = 3000};
  interval.totals = {{"direct_ns", Unit::Nanoseconds, 70}, {"scanned", Unit::Count, 32}};
  interval.caveats.lost = 2;
  interval.caveats.overload = 3;
  interval.clock = {.shown = ClockKind::Wall, .wall_start_ns = 77};
  const Report row = totals_row(interval);
  EXPECT_EQ(row.clock.wall_start_ns, 77U);
  const Table& table = row.tables.at(0);
  ASSERT_EQ(table.columns.size(), 4U);
  EXPECT_EQ(table.columns[0].unit, Unit::Moment);
  EXPECT_EQ(table.columns[1].name, "direct_ns");
  EXPECT_EQ(table.columns[1].unit, Unit::Nanoseconds);
  EXPECT_EQ(table.columns[3].name, "lost");
  const std::vector<Cell> cells = {
      std::uint64_t{2000}, std::uint64_t{70}, std::uint64_t{32}, std::uint64_t{5}};
  ASSERT_EQ(table.rows.size(), 1U);
  EXPECT_EQ(table.rows[0], cells);
}

TEST(IntervalLines, folded_stacks_are_no_rows) {
  const auto lines = IntervalLines::create({.format = "folded"});
  ASSERT_FALSE(lines.ok());
  EXPECT_EQ(lines.error().message, "--line prints no folded");
}

TEST(IntervalLines, rows_go_to_no_file) {
  const auto lines = IntervalLines::create({.format = "csv", .output = "rows.csv"});
  ASSERT_FALSE(lines.ok());
  EXPECT_EQ(lines.error().message, "--line beside --output");
}

}  // namespace
}  // namespace memtrace
