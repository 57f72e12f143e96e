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

TEST(IntervalLines, a_terminal_shows_the_totals_that_it_has_room_for) {
  Report interval{.view = "vmscan", .start_ns = 1000, .end_ns = 3000};
  for (const char* name : {"direct_ns", "memcg_ns", "node_ns"}) {
    interval.totals.push_back({name, Unit::Nanoseconds, 7});
  }
  interval.caveats.lost = 2;
  std::vector<std::string> left_out;
  // "14:03:59.123456", nine for each duration and six for "lost", two between them and before.
  const Report all = fitted(totals_row(interval), 17 + 3 * 11 + 8, left_out);
  EXPECT_EQ(all.tables[0].columns.size(), 5U);
  EXPECT_TRUE(left_out.empty());
  const Report some = fitted(totals_row(interval), 17 + 3 * 11 + 7, left_out);
  EXPECT_EQ(left_out, (std::vector<std::string>{"node_ns"}));
  ASSERT_EQ(some.tables[0].columns.size(), 4U);
  EXPECT_EQ(some.tables[0].columns[3].name, "lost");
  EXPECT_EQ(some.tables[0].rows[0][3], Cell(std::uint64_t{2}));
  const Report none = fitted(totals_row(interval), 0, left_out);
  EXPECT_EQ(none.tables[0].columns.size(), 2U);
  EXPECT_EQ(left_out.size(), 3U);
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
