// Periods are chosen so that all hits together cost no more than the budget.
#include "perf/pace/choose_rungs.h"

#include <gtest/gtest.h>

#include <array>

#include "perf/pace/ladder.h"

namespace memtrace::choose_rungs_test {
namespace {

constexpr HitCost kCost{.counted_ns = 100, .recorded_ns = 1000};

double cost_of(std::span<const std::uint64_t> hits, const std::vector<std::size_t>& rungs) {
  double cost = 0;
  for (std::size_t i = 0; i < hits.size(); ++i) {
    const auto count = static_cast<double>(hits[i]);
    cost += count * kCost.counted_ns +
            count / static_cast<double>(kPeriods[rungs[i]]) * kCost.recorded_ns;
  }
  return cost;
}

TEST(ChooseRungsTest, all_hits_are_recorded_where_the_budget_allows_it) {
  constexpr auto kHits = std::to_array<std::uint64_t>({1000, 10, 0});
  EXPECT_EQ(choose_rungs(kHits, kCost, 1'111'000), (std::vector<std::size_t>{0, 0, 0}));
}

TEST(ChooseRungsTest, frequent_events_are_sampled_and_rare_ones_recorded_whole) {
  constexpr auto kHits = std::to_array<std::uint64_t>({100'000, 50, 10'000});
  // 11 ms for hits that are not recorded; 5 ms, 5000 samples, are left.
  const auto rungs = choose_rungs(kHits, kCost, 16'005'000);
  EXPECT_EQ(rungs, (std::vector<std::size_t>{3, 0, 1}));
  EXPECT_LE(cost_of(kHits, rungs), 16'005'000);
}

TEST(ChooseRungsTest, the_cost_stays_within_any_budget_that_pays_for_unrecorded_hits) {
  constexpr auto kHits = std::to_array<std::uint64_t>({90'000, 400'000, 3, 12'345});
  const double counted = 502'348 * kCost.counted_ns;
  const double sparsest = cost_of(kHits, {5, 5, 5, 5});
  constexpr int kBudgets = 40;
  for (int step = 1; step <= kBudgets; ++step) {
    const double budget = sparsest + counted * 12 * step / kBudgets;
    EXPECT_LE(cost_of(kHits, choose_rungs(kHits, kCost, budget)), budget) << budget;
  }
}

TEST(ChooseRungsTest, with_no_budget_events_that_happen_have_the_longest_period) {
  constexpr auto kHits = std::to_array<std::uint64_t>({5, 0, 7});
  EXPECT_EQ(choose_rungs(kHits, kCost, -10), (std::vector<std::size_t>{5, 0, 5}));
  EXPECT_TRUE(choose_rungs({}, kCost, 100).empty());
}

}  // namespace
}  // namespace memtrace::choose_rungs_test
