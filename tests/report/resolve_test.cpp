#include "report/resolve.h"

#include <gtest/gtest.h>

#include "support/fake_namer.h"

namespace memtrace {
namespace {

Table table_of(std::vector<std::vector<Cell>> rows) {
  return {.columns = {{"stack", Unit::Stack}, {"call_site", Unit::Text}},
          .key_count = 2,
          .rows = std::move(rows)};
}

TEST(Resolve, stacks_and_locations_of_tables_get_names) {
  test::FakeNamer namer;
  namer.stacks[StackId{3}] = test::frames({"malloc", "main"});
  namer.locations[LocationId{3}] = test::frames({"parse"});
  Report report;
  report.tables = {table_of({{StackId{3}, LocationId{3}}})};
  resolve(report, namer);
  ASSERT_EQ(report.stacks.size(), 1U);
  ASSERT_EQ(report.locations.size(), 1U);
  EXPECT_EQ(report.stacks.at(StackId{3}).back().function, "main");
  EXPECT_EQ(report.locations.at(LocationId{3}).front().function, "parse");
}

TEST(Resolve, what_several_rows_mention_is_looked_up_once) {
  test::FakeNamer namer;
  Report report;
  report.tables = {table_of({{StackId{1}, LocationId{2}}, {StackId{1}, LocationId{2}}}),
                   table_of({{StackId{1}, LocationId{2}}})};
  resolve(report, namer);
  EXPECT_EQ(namer.stacks_asked, 1U);
  EXPECT_EQ(namer.locations_asked, 1U);
}

TEST(Resolve, the_files_of_frames_are_described) {
  test::FakeNamer namer;
  namer.stacks[StackId{3}] = {{.function = "malloc", .file_id = ModuleId{2}, .address = 8},
                              {.function = "[unknown]"}};
  namer.locations[LocationId{3}] = {{.function = "parse", .file_id = ModuleId{5}}};
  namer.modules[ModuleId{2}] = {.path = "/lib/libc.so.6", .build_id = "0a0b"};
  Report report;
  report.tables = {table_of({{StackId{3}, LocationId{3}}})};
  resolve(report, namer);
  ASSERT_EQ(report.modules.size(), 2U);
  EXPECT_EQ(report.modules.at(ModuleId{2}).build_id, "0a0b");
  EXPECT_EQ(report.modules.at(ModuleId{2}).path, "/lib/libc.so.6");
  EXPECT_EQ(report.modules.at(ModuleId{5}).path, "");
}

TEST(Resolve, ids_that_mean_none_are_not_looked_up) {
  test::FakeNamer namer;
  Report report;
  report.tables = {table_of({{StackId{}, LocationId{}}, {Cell(), std::string("text")}})};
  resolve(report, namer);
  EXPECT_EQ(namer.stacks_asked + namer.locations_asked, 0U);
  EXPECT_TRUE(report.stacks.empty());
}

TEST(Resolve, reports_of_an_overview_get_names_of_their_own) {
  test::FakeNamer namer;
  namer.stacks[StackId{1}] = test::frames({"main"});
  Report overview;
  overview.reports.resize(1);
  overview.reports[0].tables = {table_of({{StackId{1}, LocationId{}}})};
  resolve(overview, namer);
  EXPECT_TRUE(overview.stacks.empty());
  EXPECT_EQ(overview.reports[0].stacks.size(), 1U);
}

}  // namespace
}  // namespace memtrace
