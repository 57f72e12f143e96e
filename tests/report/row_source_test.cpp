// Rows that are made late: a table is the same as if all had been made at once.
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "report/arrange.h"
#include "support/fake_namer.h"

namespace memtrace {
namespace {

constexpr std::size_t kRows = 500;

using Row = std::vector<Cell>;

// Few different figures, so that many rows are equal by them.
Row row_at(std::size_t index) {
  const std::uint64_t mixed = (index * 7919) % 101;
  return {StackId{static_cast<std::uint32_t>((index * 263) % kRows + 1)},
          mixed % 4,
          mixed,
          static_cast<std::int64_t>(mixed) - 50,
          mixed % 3 == 0 ? Cell() : Cell(mixed)};
}

class LateRows final : public RowSource {
 public:
  explicit LateRows(std::size_t& made) : made_(made) {}

  std::size_t size() const override { return kRows; }

  Row keys(std::size_t row) const override { return {row_at(row)[0]}; }

  Cell figure(std::size_t row, std::size_t figure) const override {
    ++made_;
    return row_at(row)[1 + figure];
  }

 private:
  std::size_t& made_;
};

Report table_without_rows(const char* weight) {
  Report report;
  report.tables.push_back({.columns = {{"stack", Unit::Stack},
                                       {"count", Unit::Count},
                                       {"bytes", Unit::Bytes},
                                       {"net", Unit::Bytes},
                                       {"max_bytes", Unit::Bytes}},
                           .key_count = 1,
                           .sort = "count",
                           .weight = weight});
  return report;
}

Table arranged(Report report, const ArrangeOptions& options) {
  test::FakeNamer namer;
  EXPECT_TRUE(arrange(report, options, namer).ok());
  return std::move(report.tables.front());
}

Table made_at_once(const ArrangeOptions& options, const char* weight) {
  Report report = table_without_rows(weight);
  for (std::size_t i = 0; i < kRows; ++i) {
    report.tables.front().rows.push_back(row_at(i));
  }
  return arranged(std::move(report), options);
}

Table made_late(const ArrangeOptions& options, std::size_t& made, const char* weight = "") {
  Report report = table_without_rows(weight);
  report.tables.front().source = std::make_shared<LateRows>(made);
  return arranged(std::move(report), options);
}

void expect_same(const ArrangeOptions& options, const char* weight = "") {
  std::size_t made = 0;
  const Table late = made_late(options, made, weight);
  const Table whole = made_at_once(options, weight);
  EXPECT_EQ(late.source, nullptr);
  EXPECT_EQ(late.rows, whole.rows);
  EXPECT_EQ(late.note, whole.note);
  EXPECT_EQ(late.sort, whole.sort);
  EXPECT_EQ(late.last_is_rest, whole.last_is_rest);
  EXPECT_EQ(late.share_of, whole.share_of);
  EXPECT_EQ(late.whole, whole.whole);
}

TEST(RowSource, first_rows_and_the_rest_are_those_of_a_whole_table) {
  expect_same({.top = 20});
  expect_same({.sort = "bytes", .top = 1});
  expect_same({.sort = "count", .top = kRows - 1});
  expect_same({.top = 20}, "bytes");
  expect_same({.top = 20}, "max_bytes");
}

TEST(RowSource, whatever_needs_all_rows_gets_them) {
  expect_same({});
  expect_same({.top = kRows});
  expect_same({.sort = "net", .top = 20});
  expect_same({.sort = "max_bytes", .top = 20});
  expect_same({.sort = "stack", .top = 20});
  expect_same({.top = 20, .min_count = 2});
  expect_same({.top = 20, .closing_figures = true});
}

TEST(RowSource, a_figure_that_is_neither_shown_nor_summed_is_not_made) {
  std::size_t made = 0;
  made_late({.top = 20}, made);
  constexpr std::size_t kSummed = 3;  // not the largest
  constexpr std::size_t kOrderAndWhole = 2;
  EXPECT_EQ(made, kOrderAndWhole * kRows + 20 * 4 + (kRows - 20) * kSummed);
}

TEST(RowSource, rows_of_a_fixed_table_stay_in_their_order) {
  std::size_t made = 0;
  Report report = table_without_rows("");
  report.tables.front().fixed = true;
  report.tables.front().source = std::make_shared<LateRows>(made);
  const Table table = arranged(std::move(report), {.top = 20});
  ASSERT_EQ(table.rows.size(), kRows);
  EXPECT_EQ(table.rows[7], row_at(7));
}

}  // namespace
}  // namespace memtrace
