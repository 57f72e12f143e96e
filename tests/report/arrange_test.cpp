#include "report/arrange.h"

#include <gtest/gtest.h>

#include "support/fake_namer.h"

namespace memtrace {
namespace {

Table process_table() {
  return {.title = "By process",
          .columns = {{"comm", Unit::Text},
                      {"pid", Unit::Number},
                      {"count", Unit::Count},
                      {"bytes_alloc", Unit::Bytes},
                      {"avg_bytes", Unit::Bytes},
                      {"bytes_percent", Unit::Percent}},
          .key_count = 2,
          .sort = "bytes_alloc",
          .weight = "bytes_alloc",
          .rows = {{"bash", std::uint64_t{1}, std::uint64_t{10}, std::uint64_t{50}, 5.0, 25.0},
                   {"ls", std::uint64_t{2}, std::uint64_t{1}, std::uint64_t{70}, 70.0, 35.0},
                   {"sshd", std::uint64_t{3}, std::uint64_t{20}, std::uint64_t{60}, 3.0, 30.0},
                   {"make", std::uint64_t{4}, std::uint64_t{2}, std::uint64_t{20}, 10.0, 10.0}}};
}

Report report_of(Table table) {
  Report report;
  report.tables.push_back(std::move(table));
  return report;
}

// The first cells of the first table's rows.
std::string names(const Report& report) {
  std::string joined;
  for (const auto& row : report.tables.at(0).rows) {
    joined += std::get<std::string>(row[0]) + " ";
  }
  return joined;
}

std::string arranged_names(Report report, const ArrangeOptions& options) {
  test::FakeNamer namer;
  EXPECT_TRUE(arrange(report, options, namer).ok());
  return names(report);
}

TEST(Arrange, a_table_is_sorted_by_its_own_column_unless_the_user_says) {
  EXPECT_EQ(arranged_names(report_of(process_table()), {}), "ls sshd bash make ");
  EXPECT_EQ(arranged_names(report_of(process_table()), {.sort = "count"}), "sshd bash make ls ");
  EXPECT_EQ(arranged_names(report_of(process_table()), {.sort = "comm"}), "bash ls make sshd ");
}

TEST(Arrange, only_rows_that_match_in_a_name_or_a_key_stay) {
  const auto only = [](const std::string& expression) {
    return arranged_names(report_of(process_table()),
                          {.only = NamePattern::parse(expression).take()});
  };
  EXPECT_EQ(only("sh"), "sshd bash ");
  EXPECT_EQ(only("^4$"), "make ") << "a pid is a key; figures are not looked at";
  EXPECT_EQ(only("nobody"), "");
}

TEST(Arrange, a_column_that_no_table_has_is_a_usage_error_with_the_nearest_names) {
  Report report = report_of(process_table());
  test::FakeNamer namer;
  const auto result = arrange(report, {.sort = "bytes_aloc"}, namer);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().kind, ErrorKind::Usage);
  EXPECT_EQ(result.error().message, "--sort bytes_aloc: there is no such column");
  EXPECT_EQ(result.error().hint, "did you mean bytes_alloc?");
  EXPECT_EQ(names(report), "bash ls sshd make ");
}

TEST(Arrange, columns_have_the_names_of_the_text_format_and_short_ones) {
  Table table{.columns = {{"comm", Unit::Text},
                          {"time_ns", Unit::Nanoseconds},
                          {"allocs_per_second", Unit::PerSecond},
                          {"bytes_req", Unit::Bytes},
                          {"bytes_alloc", Unit::Bytes}},
              .key_count = 1,
              .sort = "comm",
              .rows = {{"a", std::uint64_t{1}, std::uint64_t{3}, std::uint64_t{2}, Cell()},
                       {"b", std::uint64_t{2}, std::uint64_t{1}, std::uint64_t{3}, Cell()},
                       {"c", std::uint64_t{3}, std::uint64_t{2}, std::uint64_t{1}, Cell()}}};
  EXPECT_EQ(arranged_names(report_of(table), {.sort = "time"}), "c b a ");
  EXPECT_EQ(arranged_names(report_of(table), {.sort = "allocs/s"}), "a c b ");
  EXPECT_EQ(arranged_names(report_of(table), {.sort = "allocs"}), "a c b ");
  EXPECT_EQ(arranged_names(report_of(table), {.sort = "bytes_r"}), "b a c ");
  Report report = report_of(table);
  test::FakeNamer namer;
  EXPECT_FALSE(arrange(report, {.sort = "bytes"}, namer).ok());  // of which there are two
}

TEST(Arrange, a_column_like_no_other_is_answered_with_all_columns) {
  Report report = report_of(process_table());
  test::FakeNamer namer;
  EXPECT_EQ(arrange(report, {.sort = "qqqqqqq"}, namer).error().hint,
            "columns: comm, pid, count, bytes_alloc, avg_bytes, bytes_percent");
}

TEST(Arrange, a_table_without_the_column_keeps_its_own_order) {
  Report report = report_of(process_table());
  report.tables.push_back({.columns = {{"zone", Unit::Text}}, .key_count = 1});
  EXPECT_EQ(arranged_names(std::move(report), {.sort = "zone"}), "ls sshd bash make ");
}

TEST(Arrange, sorting_a_report_without_tables_is_no_error) {
  Report report;
  test::FakeNamer namer;
  EXPECT_TRUE(arrange(report, {.sort = "count"}, namer).ok());
}

TEST(Arrange, rows_with_fewer_counts_than_the_least_go) {
  EXPECT_EQ(arranged_names(report_of(process_table()), {.min_count = 10}), "sshd bash ");
}

TEST(Arrange, rows_of_unknown_count_and_tables_without_counts_stay) {
  Table table = process_table();
  table.rows[1][2] = Cell();
  EXPECT_EQ(arranged_names(report_of(table), {.min_count = 15}), "ls sshd ");
  table.columns[2].name = "calls";
  EXPECT_EQ(arranged_names(report_of(table), {.min_count = 15}), "ls sshd bash make ");
}

TEST(Arrange, rows_whose_text_matches_an_excluded_pattern_go) {
  ArrangeOptions options;
  options.exclude = {NamePattern::parse("^ba").take(), NamePattern::parse("sh").take()};
  EXPECT_EQ(arranged_names(report_of(process_table()), options), "ls make ");
}

TEST(Arrange, rows_go_when_any_frame_or_location_matches) {
  test::FakeNamer namer;
  namer.stacks[StackId{1}] = test::frames({"__kmalloc", "ext4_read", "vfs_read"});
  namer.stacks[StackId{2}] = test::frames({"__kmalloc", "pipe_read"});
  namer.locations[LocationId{1}] = test::frames({"ext4_alloc"});
  Report report = report_of(
      {.columns = {{"stack", Unit::Stack}, {"call_site", Unit::Text}, {"count", Unit::Count}},
       .key_count = 2,
       .rows = {{StackId{1}, LocationId{}, std::uint64_t{3}},
                {StackId{2}, LocationId{1}, std::uint64_t{2}},
                {StackId{2}, LocationId{}, std::uint64_t{1}}}});
  ArrangeOptions options;
  options.exclude = {NamePattern::parse("^ext4_").take()};
  ASSERT_TRUE(arrange(report, options, namer).ok());
  ASSERT_EQ(report.tables[0].rows.size(), 1U);
  EXPECT_EQ(report.tables[0].rows[0][2], Cell(std::uint64_t{1}));
}

TEST(Arrange, what_is_cut_is_added_up_in_one_last_row) {
  Report report = report_of(process_table());
  test::FakeNamer namer;
  ASSERT_TRUE(arrange(report, {.top = 2}, namer).ok());
  const Table& table = report.tables[0];
  EXPECT_EQ(names(report), "ls sshd other ");
  EXPECT_TRUE(table.last_is_rest);
  EXPECT_EQ(table.note, "2 rows of 4; the other 2 are in the last line");
  const std::vector<Cell> rest = {
      "other", Cell(), std::uint64_t{12}, std::uint64_t{70}, Cell(), Cell()};
  EXPECT_EQ(table.rows.back(), rest);
}

TEST(Arrange, signed_fractional_and_unknown_figures_add_up) {
  Table table{.columns = {{"comm", Unit::Text},
                          {"change", Unit::Bytes},
                          {"rate", Unit::PerSecond},
                          {"spent", Unit::Nanoseconds},
                          {"max_ns", Unit::Nanoseconds}},
              .key_count = 1};
  table.rows = {{"a", Cell(), Cell(), Cell(), Cell()},
                {"b", std::int64_t{-5}, 0.5, Cell(), std::uint64_t{1}},
                {"c", std::uint64_t{3}, std::uint64_t{2}, Cell(), std::uint64_t{1}}};
  table.rows.insert(table.rows.begin(), {"0", Cell(), Cell(), Cell(), Cell()});
  Report report = report_of(table);
  test::FakeNamer namer;
  ASSERT_TRUE(arrange(report, {.top = 1}, namer).ok());
  const std::vector<Cell> rest = {"other", std::int64_t{-2}, 2.5, Cell(), Cell()};
  EXPECT_EQ(report.tables[0].rows.back(), rest);
}

TEST(Arrange, a_table_that_fits_is_not_cut) {
  Report report = report_of(process_table());
  test::FakeNamer namer;
  ASSERT_TRUE(arrange(report, {.top = 4}, namer).ok());
  EXPECT_EQ(report.tables[0].rows.size(), 4U);
  EXPECT_FALSE(report.tables[0].last_is_rest);
  EXPECT_EQ(report.tables[0].note, "");
}

TEST(Arrange, closing_figures_say_what_the_filters_left_and_not_what_the_cut_left) {
  Report report = report_of(process_table());
  test::FakeNamer namer;
  ASSERT_TRUE(arrange(report, {.top = 1, .min_count = 10, .closing_figures = true}, namer).ok());
  EXPECT_EQ(report.tables[0].note,
            "Rows before filtering: 4\n"
            "Rows after filtering: 2\n"
            "Calls before filtering: 33\n"
            "Calls after filtering: 30\n"
            "90.91 percent of the calls passed the filters\n"
            "1 row of 2; the other one is in the last line");
}

TEST(Arrange, closing_figures_of_an_empty_table_divide_by_nothing) {
  Table table = process_table();
  table.rows.clear();
  Report report = report_of(table);
  test::FakeNamer namer;
  ASSERT_TRUE(arrange(report, {.closing_figures = true}, namer).ok());
  EXPECT_NE(report.tables[0].note.find("100.00 percent"), std::string::npos);
}

TEST(Arrange, fixed_tables_are_left_alone) {
  Table table = process_table();
  table.fixed = true;
  ArrangeOptions options{.top = 1, .min_count = 100, .closing_figures = true};
  options.exclude = {NamePattern::parse(".").take()};
  Report report = report_of(table);
  test::FakeNamer namer;
  ASSERT_TRUE(arrange(report, options, namer).ok());
  EXPECT_EQ(names(report), "bash ls sshd make ");
  EXPECT_EQ(report.tables[0].note, "");
}

TEST(Arrange, reports_of_an_overview_are_arranged_too) {
  Report overview;
  overview.reports.push_back(report_of(process_table()));
  test::FakeNamer namer;
  ASSERT_TRUE(arrange(overview, {.sort = "count", .top = 1}, namer).ok());
  EXPECT_EQ(names(overview.reports[0]), "sshd other ");
}

TEST(Arrange, only_a_filter_or_a_sort_by_name_costs_names) {
  Report report = report_of({.columns = {{"stack", Unit::Stack}, {"count", Unit::Count}},
                             .key_count = 1,
                             .sort = "count",
                             .rows = {{StackId{2}, std::uint64_t{1}}, {StackId{1}, Cell()}}});
  test::FakeNamer namer;
  ASSERT_TRUE(arrange(report, {.top = 1, .min_count = 1}, namer).ok());
  EXPECT_EQ(namer.stacks_asked, 0U);
}

}  // namespace
}  // namespace memtrace
