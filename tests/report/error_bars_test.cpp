// The bar of a count is that of independent choices.
#include "report/error_bars.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace memtrace::error_bars_test {
namespace {

Report report_of(std::vector<std::vector<Cell>> rows) {
  Report report;
  Table& table = report.tables.emplace_back();
  table.columns = {{"comm", Unit::Text}, {"bytes", Unit::Bytes}, {"allocs", Unit::Count}};
  table.key_count = 1;
  table.rows = std::move(rows);
  return report;
}

// One in N of many events is drawn again and again: 19 of 20 times the bar holds the truth.
TEST(ErrorBarsTest, holds_the_truth_nineteen_times_of_twenty) {
  constexpr std::uint64_t kTruth = 20'000;
  constexpr double kWeight = 16;
  constexpr int kTrials = 2000;
  std::mt19937_64 random(1);  // NOLINT(cert-msc32-c,cert-msc51-cpp): the same each time
  std::binomial_distribution<std::uint64_t> samples(kTruth, 1 / kWeight);
  int held = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    const double estimate = static_cast<double>(samples(random)) * kWeight;
    const double off = std::abs(estimate - static_cast<double>(kTruth));
    held += off <= estimate * error_percent(estimate, kWeight) / 100 ? 1 : 0;
  }
  EXPECT_NEAR(held / static_cast<double>(kTrials), 0.95, 0.015);
}

TEST(ErrorBarsTest, is_a_column_behind_all_others_of_the_first_count) {
  Report report = report_of({{std::string("a"), std::uint64_t{10}, std::uint64_t{400}},
                             {std::string("b"), std::uint64_t{10}, std::uint64_t{0}},
                             {std::string("c"), std::uint64_t{10}, Cell()}});
  add_error_bars(report, 5);
  const Table& table = report.tables.front();
  ASSERT_EQ(table.columns.size(), 4U);
  EXPECT_EQ(table.columns.back().name, "error");
  EXPECT_EQ(table.columns.back().unit, Unit::Percent);
  EXPECT_NEAR(std::get<double>(table.rows[0].back()), 19.6, 1e-9);
  EXPECT_TRUE(std::holds_alternative<std::monostate>(table.rows[1].back()));
  EXPECT_TRUE(std::holds_alternative<std::monostate>(table.rows[2].back()));
}

TEST(ErrorBarsTest, tables_that_count_nothing_and_lists_have_none) {
  Report report = report_of({{std::string("a"), std::uint64_t{10}, std::uint64_t{400}}});
  report.tables.push_back(report.tables.front());
  report.tables[0].columns[2].unit = Unit::Nanoseconds;
  report.tables[1].entries = true;
  add_error_bars(report, 5);
  EXPECT_EQ(report.tables[0].columns.size(), 3U);
  EXPECT_EQ(report.tables[1].columns.size(), 3U);
}

}  // namespace
}  // namespace memtrace::error_bars_test
