#include "overview/row_groups.h"

#include <gtest/gtest.h>

#include <array>

namespace memtrace {
namespace {

Table table() {
  return {.columns = {{"comm", Unit::Text},
                      {"stack", Unit::Stack},
                      {"count", Unit::Count},
                      {"max", Unit::Nanoseconds}},
          .key_count = 2,
          .rows = {{"a", StackId{1}, std::uint64_t{2}, std::uint64_t{70}},
                   {"b", StackId{2}, std::uint64_t{9}, std::uint64_t{5}},
                   {"a", StackId{3}, std::uint64_t{8}, std::uint64_t{40}},
                   {Cell(), StackId{4}, Cell(), Cell()}}};
}

constexpr auto kKeys = std::to_array<std::string_view>({"comm"});
constexpr auto kFigures = std::to_array<std::string_view>({"count", "max"});

TEST(RowGroups, figures_add_up_and_longest_ones_are_the_longest) {
  const auto groups = group_rows(table(), kKeys, kFigures);
  ASSERT_EQ(groups.size(), 3U);
  EXPECT_EQ(groups[0].keys, (std::vector<std::string>{"a"}));
  EXPECT_EQ(groups[0].figures, (std::vector<std::uint64_t>{10, 70}));
  EXPECT_EQ(groups[1].keys, (std::vector<std::string>{"b"}));
  EXPECT_EQ(groups[2].keys, (std::vector<std::string>{""}));
  EXPECT_EQ(groups[2].figures, (std::vector<std::uint64_t>{0, 0}));
}

TEST(RowGroups, stack_is_that_of_the_largest_row) {
  const auto groups = group_rows(table(), kKeys, kFigures);
  EXPECT_EQ(groups[0].stack, StackId{3});
  EXPECT_EQ(groups[0].stack_figure, 8U);
}

TEST(RowGroups, column_that_is_not_there_is_nothing) {
  static constexpr auto kNone = std::to_array<std::string_view>({"none"});
  const auto groups = group_rows(table(), kNone, kNone);
  ASSERT_EQ(groups.size(), 1U);
  EXPECT_EQ(groups[0].keys[0], "");
  EXPECT_EQ(groups[0].figures[0], 0U);
  EXPECT_EQ(text_at(table(), 0, "none"), "");
  EXPECT_EQ(figure_at(table(), 0, "none"), 0U);
}

TEST(RowGroups, table_is_found_by_a_column) {
  const Report report{.tables = {Table(), table()}};
  EXPECT_EQ(table_with(report, "max"), &report.tables[1]);
  EXPECT_EQ(table_with(report, "none"), nullptr);
}

}  // namespace
}  // namespace memtrace
