#include "report/shares.h"

#include <gtest/gtest.h>

#include "report/arrange.h"
#include "support/fake_namer.h"

namespace memtrace {
namespace {

Table shared_table(std::vector<std::vector<Cell>> rows) {
  return {.columns = {{"comm", Unit::Text},
                      {"count", Unit::Count},
                      {"bytes", Unit::Bytes},
                      {"avg_bytes", Unit::Bytes}},
          .key_count = 1,
          .sort = "bytes",
          .weight = "bytes",
          .rows = std::move(rows)};
}

Table example() {
  return shared_table({{"a", std::uint64_t{1}, std::uint64_t{60}, std::uint64_t{60}},
                       {"b", std::uint64_t{3}, std::uint64_t{30}, std::uint64_t{10}},
                       {"c", Cell(), std::uint64_t{10}, Cell()}});
}

Table arranged(Table table, const ArrangeOptions& options) {
  Report report;
  report.tables.push_back(std::move(table));
  test::FakeNamer namer;
  EXPECT_TRUE(arrange(report, options, namer).ok());
  return std::move(report.tables.front());
}

TEST(Shares, are_of_the_column_by_which_the_table_is_sorted) {
  Table table = arranged(example(), {});
  EXPECT_EQ(table.share_of, "bytes");
  EXPECT_EQ(table.whole, 100U);
  EXPECT_EQ(share_column(table), 2U);
  EXPECT_DOUBLE_EQ(*share_of(table, table.rows[0]), 0.6);
  table = arranged(example(), {.sort = "count"});
  EXPECT_EQ(table.share_of, "count");
  EXPECT_DOUBLE_EQ(*share_of(table, table.rows[0]), 0.75);
}

TEST(Shares, are_of_the_table_s_own_figure_where_the_chosen_one_is_no_sum) {
  EXPECT_EQ(arranged(example(), {.sort = "avg_bytes"}).share_of, "bytes");
  EXPECT_EQ(arranged(example(), {.sort = "comm"}).share_of, "bytes");
  EXPECT_EQ(arranged(example(), {.sort = "share"}).share_of, "bytes");
}

TEST(Shares, are_of_all_rows_whatever_is_left_out) {
  Table table = arranged(example(), {.top = 1});
  EXPECT_DOUBLE_EQ(*share_of(table, table.rows[0]), 0.6);
  EXPECT_DOUBLE_EQ(*share_of(table, table.rows[1]), 0.4);  // the rest
  table = arranged(example(), {.min_count = 2});
  ASSERT_EQ(table.rows.size(), 2U);  // one count is not known
  EXPECT_DOUBLE_EQ(*share_of(table, table.rows[0]), 0.3);
}

TEST(Shares, an_unknown_figure_has_none) {
  const Table table = arranged(example(), {.sort = "count"});
  EXPECT_EQ(share_of(table, table.rows[2]), std::nullopt);
}

TEST(Shares, there_are_none_where_figures_are_no_parts) {
  Table changes = shared_table({{"a", std::uint64_t{1}, std::int64_t{-5}, Cell()},
                                {"b", std::uint64_t{1}, std::uint64_t{5}, Cell()}});
  EXPECT_EQ(arranged(changes, {}).share_of, "");
  EXPECT_EQ(arranged(shared_table({{"a", Cell(), std::uint64_t{0}, Cell()}}), {}).share_of, "");
  EXPECT_EQ(arranged(shared_table({}), {}).share_of, "");
  Table without_keys = example();
  without_keys.key_count = 0;
  EXPECT_EQ(arranged(without_keys, {}).share_of, "");
  Table fixed = example();
  fixed.fixed = true;
  EXPECT_EQ(arranged(fixed, {}).share_of, "");
}

TEST(Shares, of_rates_and_extremes_there_are_none) {
  EXPECT_TRUE(can_be_summed({"bytes_per_second", Unit::BytesPerSecond}));
  EXPECT_FALSE(can_be_summed({"max_bytes", Unit::Bytes}));
  Table table{.columns = {{"comm", Unit::Text}, {"speed", Unit::BytesPerSecond}},
              .key_count = 1,
              .sort = "speed",
              .rows = {{"a", std::uint64_t{5}}}};
  EXPECT_EQ(arranged(table, {}).share_of, "");
}

}  // namespace
}  // namespace memtrace
