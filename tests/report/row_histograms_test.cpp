#include "report/row_histograms.h"

#include <gtest/gtest.h>

#include "report/arrange.h"
#include "support/fake_namer.h"

namespace memtrace {
namespace {

Histogram histogram(std::vector<Histogram::Bucket> buckets) {
  return {.title = "size", .unit = Unit::Bytes, .buckets = std::move(buckets)};
}

// "4-7:2 8-15:1".
std::string text_of(const Histogram& histogram) {
  std::string text;
  for (const auto& bucket : histogram.buckets) {
    text += (text.empty() ? "" : " ") + std::to_string(bucket.low) + "-" +
            std::to_string(bucket.high) + ":" + std::to_string(bucket.count);
  }
  return text;
}

class RowHistograms : public testing::Test {
 protected:
  Table arranged(const ArrangeOptions& options) {
    Report report;
    report.tables.push_back(table_);
    test::FakeNamer namer;
    EXPECT_TRUE(arrange(report, options, namer).ok());
    return std::move(report.tables.front());
  }

  Table table_{.columns = {{"comm", Unit::Text}, {"count", Unit::Count}},
               .key_count = 1,
               .sort = "count",
               .rows = {{"a", std::uint64_t{1}},
                        {"b", std::uint64_t{3}},
                        {"c", std::uint64_t{2}},
                        {"none", std::uint64_t{0}}},
               .histograms = {{{"a"}, histogram({{1, 1, 1}})},
                              {{"b"}, histogram({{4, 7, 3}})},
                              {{"c"}, histogram({{4, 7, 1}, {8, 15, 1}})}}};
};

TEST_F(RowHistograms, are_in_the_order_of_the_rows) {
  const Table table = arranged({});
  ASSERT_EQ(table.histograms.size(), 3U);
  EXPECT_EQ(table.histograms[0].keys, (std::vector<Cell>{"b"}));
  EXPECT_EQ(text_of(*histogram_of(table, table.rows[1])), "4-7:1 8-15:1");
  EXPECT_EQ(histogram_of(table, table.rows[3]), nullptr);
}

TEST_F(RowHistograms, of_rows_that_are_cut_are_added_up) {
  const Table table = arranged({.top = 1});
  ASSERT_EQ(table.histograms.size(), 2U);
  EXPECT_EQ(text_of(*histogram_of(table, table.rows[1])), "1-1:1 2-3:0 4-7:1 8-15:1");
}

TEST_F(RowHistograms, of_rows_that_are_left_out_are_left_out) {
  const Table table = arranged({.top = 1, .min_count = 2});
  ASSERT_EQ(table.rows.size(), 2U);
  EXPECT_EQ(text_of(*histogram_of(table, table.rows[1])), "4-7:1 8-15:1");
}

}  // namespace
}  // namespace memtrace
