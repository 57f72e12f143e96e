#include "cli/output/interval_changes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

namespace memtrace {
namespace {

Report interval_of(const std::map<std::string, std::uint64_t>& bytes) {
  Table table{.columns = {{"comm", Unit::Text}, {"bytes", Unit::Bytes}}, .key_count = 1};
  table.sort = "bytes";
  for (const auto& [comm, size] : bytes) {
    table.rows.push_back({comm, size});
  }
  Report report{.view = "leaks", .end_ns = 1'000'000'000};
  report.tables = {table};
  return report;
}

// "comm change" of each row.
std::string changes_in(const Report& report) {
  const Table& table = report.tables.at(0);
  const auto change =
      std::ranges::find(table.columns, "change", &Column::name) - table.columns.begin();
  std::string text;
  for (const auto& row : table.rows) {
    const auto& cell = row.at(static_cast<std::size_t>(change));
    const auto* grown = std::get_if<std::uint64_t>(&cell);
    const auto* either = std::get_if<std::int64_t>(&cell);
    text += std::get<std::string>(row.front()) + " " +
            (grown != nullptr    ? std::to_string(*grown)
             : either != nullptr ? std::to_string(*either)
                                 : "?") +
            "\n";
  }
  return text;
}

TEST(IntervalChanges, first_interval_is_all_new_and_then_only_changes_are_shown) {
  IntervalChanges changes({.top = 0});
  const auto first = changes.since_last(interval_of({{"a", 10}, {"b", 5}}));
  ASSERT_TRUE(first.ok());
  EXPECT_EQ(changes_in(first.value()), "a 10\nb 5\n");
  const auto second = changes.since_last(interval_of({{"a", 10}, {"b", 9}, {"c", 1}}));
  ASSERT_TRUE(second.ok());
  EXPECT_EQ(changes_in(second.value()), "b 4\nc 1\n");
  const auto third = changes.since_last(interval_of({{"a", 10}, {"c", 1}}));
  ASSERT_TRUE(third.ok());
  EXPECT_EQ(changes_in(third.value()), "b -9\n");
}

TEST(IntervalChanges, caveats_are_of_the_interval) {
  IntervalChanges changes({});
  Report report = interval_of({{"a", 10}});
  report.caveats.lost = 3;
  const auto first = changes.since_last(report);
  ASSERT_TRUE(first.ok());
  EXPECT_EQ(first.value().caveats.lost, 3U);
  const auto second = changes.since_last(interval_of({{"a", 12}}));
  ASSERT_TRUE(second.ok());
  EXPECT_EQ(second.value().caveats.lost, 0U);
}

TEST(IntervalChanges, a_figure_that_no_table_has_is_a_usage_error) {
  IntervalChanges changes({.figure = "zzz"});
  const auto made = changes.since_last(interval_of({{"a", 10}}));
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.error().kind, ErrorKind::Usage);
}

}  // namespace
}  // namespace memtrace
