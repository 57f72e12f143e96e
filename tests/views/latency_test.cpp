#include "views/latency.h"

#include <gtest/gtest.h>

#include <vector>

namespace memtrace::test {
namespace {

TEST(LatencySummary, sum_and_extremes_are_exact) {
  LatencySummary summary;
  for (const std::uint64_t value : {700U, 3U, 1'000'003U}) {
    summary.add(value, 2);
  }
  EXPECT_EQ(summary.count(), 6U);
  EXPECT_EQ(summary.sum_ns(), 2'001'412U);
  EXPECT_EQ(summary.min_ns(), 3U);
  EXPECT_EQ(summary.max_ns(), 1'000'003U);
  EXPECT_EQ(summary.average_ns(), 333'568U);
}

TEST(LatencySummary, nothing_has_no_percentile) {
  EXPECT_EQ(LatencySummary().percentile_ns(50), 0U);
  EXPECT_EQ(LatencySummary().average_ns(), 0U);
}

TEST(LatencySummary, percentiles_are_at_most_a_sixteenth_too_high) {
  LatencySummary summary;
  for (std::uint64_t value = 1; value <= 100'000; ++value) {
    summary.add(value, 1);
  }
  for (const std::uint64_t percent : {1U, 10U, 50U, 95U, 99U}) {
    const double exact = 1000.0 * static_cast<double>(percent);
    const auto found = static_cast<double>(summary.percentile_ns(percent));
    EXPECT_GE(found, exact) << percent;
    EXPECT_LE(found, exact * 17 / 16) << percent;
  }
  EXPECT_EQ(summary.percentile_ns(100), 100'000U);
}

TEST(LatencySummary, one_value_is_every_percentile) {
  LatencySummary summary;
  summary.add(123'457, 1);
  EXPECT_EQ(summary.percentile_ns(1), 123'457U);
  EXPECT_EQ(summary.percentile_ns(99), 123'457U);
}

TEST(LatencySummary, the_largest_duration_there_is_has_a_bucket) {
  LatencySummary summary;
  summary.add(~std::uint64_t{0}, 1);
  EXPECT_EQ(summary.percentile_ns(50), ~std::uint64_t{0});
}

TEST(LatencySummary, sums_of_parts_are_the_whole) {
  LatencySummary whole;
  LatencySummary even;
  LatencySummary odd;
  for (std::uint64_t value = 0; value < 1000; ++value) {
    whole.add(value * value, 1);
    (value % 2 == 0 ? even : odd).add(value * value, 1);
  }
  LatencySummary sum;
  sum += odd;
  sum += even;
  EXPECT_EQ(sum.count(), whole.count());
  EXPECT_EQ(sum.sum_ns(), whole.sum_ns());
  EXPECT_EQ(sum.min_ns(), 0U);
  EXPECT_EQ(sum.max_ns(), whole.max_ns());
  for (std::uint64_t percent = 1; percent <= 100; ++percent) {
    EXPECT_EQ(sum.percentile_ns(percent), whole.percentile_ns(percent)) << percent;
  }
}

}  // namespace
}  // namespace memtrace::test
