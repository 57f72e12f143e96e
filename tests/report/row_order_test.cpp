#include "report/row_order.h"

#include <gtest/gtest.h>

#include <limits>

#include "support/fake_namer.h"

namespace memtrace {
namespace {

// One key, whose text identifies the row, and one cell to sort by.
Table table_of(Unit unit, std::vector<std::pair<std::string, Cell>> rows) {
  Table table{.columns = {{"name", Unit::Text}, {"value", unit}}, .key_count = 1};
  for (auto& [name, value] : rows) {
    table.rows.push_back({name, value});
  }
  return table;
}

std::string sorted_names(Table table, std::size_t column, test::FakeNamer& namer) {
  sort_rows(table, column, namer);
  std::string names;
  for (const auto& row : table.rows) {
    names += std::get<std::string>(row[0]);
  }
  return names;
}

std::string sorted_names(Table table) {
  test::FakeNamer namer;
  return sorted_names(std::move(table), 1, namer);
}

TEST(RowOrder, figures_run_from_the_largest_down) {
  EXPECT_EQ(sorted_names(table_of(Unit::Count,
                                  {{"a", std::uint64_t{5}},
                                   {"b", std::uint64_t{18446744073709551615U}},
                                   {"c", std::uint64_t{18446744073709551614U}}})),
            "bca");
}

TEST(RowOrder, signed_unsigned_and_fractional_figures_compare_by_value) {
  EXPECT_EQ(sorted_names(table_of(Unit::Count,
                                  {{"a", std::int64_t{-1}},
                                   {"b", std::uint64_t{9223372036854775809U}},
                                   {"c", 2.5},
                                   {"d", std::uint64_t{2}},
                                   {"e", std::int64_t{3}}})),
            "becda");
}

TEST(RowOrder, unknown_cells_are_last_in_either_direction) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(sorted_names(table_of(Unit::Count, {{"a", Cell()}, {"b", nan}, {"c", 0.0}})), "cab");
  EXPECT_EQ(sorted_names(table_of(Unit::Text, {{"a", Cell()}, {"b", "z"}, {"c", "y"}})), "cba");
}

TEST(RowOrder, text_runs_upwards) {
  EXPECT_EQ(sorted_names(table_of(Unit::Text, {{"a", "sh"}, {"b", "bash"}, {"c", "ls"}})), "bca");
}

TEST(RowOrder, equal_figures_are_ordered_by_the_keys) {
  const std::uint64_t same = 7;
  EXPECT_EQ(sorted_names(table_of(Unit::Count, {{"c", same}, {"a", same}, {"b", same}})), "abc");
}

TEST(RowOrder, equal_figures_are_ordered_by_the_weight_before_the_keys) {
  const std::uint64_t same = 7;
  Table table = table_of(Unit::Count, {{"a", same}, {"b", same}, {"c", same}});
  table.columns.push_back({"bytes", Unit::Bytes});
  table.weight = "bytes";
  table.rows[0].emplace_back(std::uint64_t{10});
  table.rows[1].emplace_back();
  table.rows[2].emplace_back(std::uint64_t{20});
  EXPECT_EQ(sorted_names(table), "cab");
}

TEST(RowOrder, without_a_column_the_keys_decide) {
  Table table = table_of(Unit::Count, {{"b", std::uint64_t{9}}, {"a", std::uint64_t{1}}});
  test::FakeNamer namer;
  sort_rows(table, std::nullopt, namer);
  EXPECT_EQ(std::get<std::string>(table.rows[0][0]), "a");
}

TEST(RowOrder, places_and_stacks_are_ordered_by_name_and_not_by_number) {
  test::FakeNamer namer;
  namer.locations[LocationId{1}] = test::frames({"zap"});
  namer.locations[LocationId{2}] = test::frames({"alloc"});
  EXPECT_EQ(
      sorted_names(table_of(Unit::Text, {{"a", LocationId{1}}, {"b", LocationId{2}}}), 1, namer),
      "ba");
  namer.stacks[StackId{1}] = test::frames({"malloc", "parse"});
  namer.stacks[StackId{2}] = test::frames({"malloc", "main"});
  namer.stacks[StackId{3}] = test::frames({"malloc"});
  EXPECT_EQ(
      sorted_names(
          table_of(Unit::Stack,
                   {{"a", StackId{1}}, {"b", StackId{2}}, {"c", StackId{3}}, {"d", StackId{}}}),
          1,
          namer),
      "cbad");
}

TEST(RowOrder, a_column_is_found_by_its_whole_name) {
  const Table table = table_of(Unit::Count, {});
  EXPECT_EQ(find_column(table, "value"), 1U);
  EXPECT_FALSE(find_column(table, "val"));
}

}  // namespace
}  // namespace memtrace
