#include "report/suppressions.h"

#include <gtest/gtest.h>

#include "support/fake_namer.h"

namespace memtrace {
namespace {

void name_stacks(test::FakeNamer& namer) {
  namer.stacks[StackId{1}] = {
      {.function = "malloc", .module = "libc.so.6"},
      {.function = "Cache::fill(int)", .module = "app", .file = "src/cache.cpp"}};
  namer.stacks[StackId{2}] = {{.function = "malloc", .module = "libc.so.6"},
                              {.function = "main", .module = "app"}};
}

Report leaks() {
  Report report;
  report.totals = {{"count", Unit::Count, 5}, {"bytes", Unit::Bytes, 500}};
  Table& table = report.tables.emplace_back();
  table.columns = {{"stack", Unit::Stack}, {"count", Unit::Count}, {"bytes", Unit::Bytes}};
  table.key_count = 1;
  table.rows = {{StackId{1}, std::uint64_t{2}, std::uint64_t{200}},
                {StackId{2}, std::uint64_t{3}, std::uint64_t{300}}};
  return report;
}

std::size_t rows_left(std::string_view rules) {
  test::FakeNamer namer;
  name_stacks(namer);
  Report report = leaks();
  const auto suppressions = Suppressions::parse(rules, "rules");
  EXPECT_TRUE(suppressions.ok());
  suppressions.value().apply(report, namer);
  return report.tables[0].rows.size();
}

TEST(Suppressions, are_found_in_functions_files_and_modules) {
  EXPECT_EQ(rows_left("leak:Cache::fill"), 1U);
  EXPECT_EQ(rows_left("leak:cache.cpp"), 1U);
  EXPECT_EQ(rows_left("leak:app"), 0U);
  EXPECT_EQ(rows_left("leak:other"), 2U);
}

TEST(Suppressions, know_wildcards_and_anchors) {
  EXPECT_EQ(rows_left("leak:^Cache*int)$"), 1U);
  EXPECT_EQ(rows_left("leak:^fill"), 2U);
  EXPECT_EQ(rows_left("leak:main$"), 1U);
}

TEST(Suppressions, match_whole_names_between_two_anchors) {
  EXPECT_EQ(rows_left("leak:^main$"), 1U);
  EXPECT_EQ(rows_left("leak:^mai$"), 2U);
  EXPECT_EQ(rows_left("leak:^ain$"), 2U);
  EXPECT_EQ(rows_left("leak:^m*n$"), 1U);
  EXPECT_EQ(rows_left("leak:^main*n$"), 2U);  // one letter is not two
  EXPECT_EQ(rows_left("leak:^*$"), 0U);
  EXPECT_EQ(rows_left("leak:Cache::fill(i*)"), 1U);
  EXPECT_EQ(rows_left("leak:m?in"), 2U);
}

TEST(Suppressions, take_any_number_of_wildcards) {
  std::string rule = "leak:";
  for (int i = 0; i < 60000; ++i) {
    rule += "*a";
  }
  EXPECT_EQ(rows_left(rule), 2U);
}

TEST(Suppressions, ignore_comments_and_empty_lines) {
  EXPECT_EQ(rows_left("# known\n\n  leak:main  \n"), 1U);
}

TEST(Suppressions, take_from_the_totals_and_say_what_each_rule_took) {
  test::FakeNamer namer;
  name_stacks(namer);
  Report report = leaks();
  Suppressions::parse("leak:none\nleak:Cache", "rules").value().apply(report, namer);
  EXPECT_EQ(report.totals[0].value, 3U);
  EXPECT_EQ(report.totals[1].value, 300U);
  ASSERT_EQ(report.tables.size(), 2U);
  ASSERT_EQ(report.tables[1].rows.size(), 1U);
  EXPECT_EQ(report.tables[1].rows[0][0], Cell(std::string("Cache")));
  EXPECT_EQ(report.tables[1].rows[0][2], Cell(std::uint64_t{200}));
}

TEST(Suppressions, a_line_that_is_none_is_an_error_with_its_number) {
  const auto parsed = Suppressions::parse("leak:a\nrace:b\n", "my.supp");
  ASSERT_FALSE(parsed.ok());
  EXPECT_EQ(parsed.error().message, "my.supp:2: 'race:b'");
}

}  // namespace
}  // namespace memtrace
