#include "views/kit/durations.h"

#include <gtest/gtest.h>

#include <random>

namespace memtrace {
namespace {

TEST(Durations, of_nothing_are_zero) {
  const Durations none;
  EXPECT_EQ(none.count(), 0U);
  EXPECT_EQ(none.average_ns(), 0U);
  EXPECT_EQ(none.min_ns(), 0U);
  EXPECT_EQ(none.percentile_ns(99), 0U);
}

TEST(Durations, sums_and_extremes_are_exact) {
  Durations durations;
  durations.add(10);
  durations.add(1000, 2);
  EXPECT_EQ(durations.count(), 3U);
  EXPECT_EQ(durations.total_ns(), 2010U);
  EXPECT_EQ(durations.average_ns(), 670U);
  EXPECT_EQ(durations.min_ns(), 10U);
  EXPECT_EQ(durations.max_ns(), 1000U);
}

TEST(Durations, percentiles_of_any_values_are_at_most_a_sixteenth_too_long) {
  std::mt19937_64 random(1);
  std::vector<std::uint64_t> values;
  Durations durations;
  for (int i = 0; i < 10'000; ++i) {
    const std::uint64_t value = random() >> (random() % 50 + 4);
    values.push_back(value);
    durations.add(value);
  }
  std::ranges::sort(values);
  for (const std::uint64_t percent : {1U, 50U, 95U, 99U, 100U}) {
    const std::uint64_t exact = values[(values.size() * percent + 99) / 100 - 1];
    EXPECT_GE(durations.percentile_ns(percent), exact) << percent;
    EXPECT_LE(durations.percentile_ns(percent), exact + exact / 16) << percent;
  }
}

TEST(Durations, the_longest_there_is_has_a_bucket) {
  Durations durations;
  durations.add(~std::uint64_t{0});
  EXPECT_EQ(durations.percentile_ns(50), ~std::uint64_t{0});
}

TEST(Durations, of_two_rows_add_up) {
  Durations both;
  Durations one;
  Durations other;
  for (std::uint64_t ns = 1; ns < 1000; ++ns) {
    both.add(ns);
    (ns % 3 == 0 ? one : other).add(ns);
  }
  one += other;
  EXPECT_EQ(one.total_ns(), both.total_ns());
  EXPECT_EQ(one.percentile_ns(95), both.percentile_ns(95));
  EXPECT_EQ(one.min_ns(), 1U);
}

}  // namespace
}  // namespace memtrace
