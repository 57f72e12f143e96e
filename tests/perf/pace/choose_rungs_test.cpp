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

double cost_of(std::span<const std::uint64_t> hits, const std::vector<EventPace>& paces) {
  double cost = 0;
  for (std::size_t i = 0; i < hits.size(); ++i) {
    const auto count = static_cast<double>(hits[i]) / static_cast<double>(paces[i].share);
    cost += count *
            (kCost.counted_ns + kCost.recorded_ns / static_cast<double>(kPeriods[paces[i].rung]));
  }
  return cost;
}

TEST(ChoosePacesTest, where_counting_is_cheap_nothing_is_watched_in_windows) {
  constexpr auto kHits = std::to_array<std::uint64_t>({100'000, 50, 10'000});
  const auto paces = choose_paces(kHits, kCost, 30'000'000);
  const auto rungs = choose_rungs(kHits, kCost, 30'000'000);
  for (std::size_t i = 0; i < paces.size(); ++i) {
    EXPECT_EQ(paces[i], (EventPace{rungs[i], 1}));
  }
}

TEST(ChoosePacesTest, frequent_events_are_watched_in_windows_and_rare_ones_all_the_time) {
  constexpr auto kHits = std::to_array<std::uint64_t>({430'000, 20, 0});
  // 43 ms for counting alone.
  const auto paces = choose_paces(kHits, kCost, 20'000'000);
  EXPECT_EQ(paces[0].rung, kWindowRung);
  EXPECT_EQ(paces[0].share, 8U);  // half of the budget is for the rare event
  EXPECT_EQ(paces[1], (EventPace{0, 1}));
  EXPECT_EQ(paces[2], (EventPace{0, 1}));
}

TEST(ChoosePacesTest, any_budget_is_kept_down_to_the_smallest_share) {
  constexpr auto kHits = std::to_array<std::uint64_t>({90'000, 4'000'000, 3, 12'345, 600'000});
  const double least = cost_of(kHits, std::vector<EventPace>(kHits.size(), {kWindowRung, 256}));
  for (double budget = 4 * least; budget < 1e9; budget *= 1.1) {
    EXPECT_LE(cost_of(kHits, choose_paces(kHits, kCost, budget)), budget) << budget;
  }
}

TEST(ChoosePacesTest, all_windows_have_one_share) {
  constexpr auto kHits = std::to_array<std::uint64_t>({900'000, 4'000'000, 800'000});
  const auto paces = choose_paces(kHits, kCost, 10'000'000);
  for (const EventPace& pace : paces) {
    EXPECT_GT(pace.share, 1U);
    EXPECT_EQ(pace.share, paces.front().share);
  }
}

TEST(StepTowardsTest, less_is_recorded_at_once_and_more_step_by_step) {
  using Paces = std::vector<EventPace>;
  const Paces all = {{0, 1}, {1, 1}};
  const Paces sparse = {{kWindowRung, 32}, {5, 1}};
  EXPECT_EQ(step_towards(all, sparse), sparse);
  Paces now = sparse;
  std::vector<std::uint64_t> weights;
  for (int step = 0; step < 12 && now != all; ++step) {
    now = step_towards(now, all);
    weights.push_back(kPeriods[now[0].rung] * now[0].share);
  }
  EXPECT_EQ(now, all);
  EXPECT_EQ(weights, (std::vector<std::uint64_t>{67 * 16, 67 * 8, 67 * 4, 67 * 2, 67, 17, 5, 1}));
}

TEST(StepTowardsTest, an_event_that_joins_the_windows_has_their_share) {
  const std::vector<EventPace> now = {{kWindowRung, 16}, {2, 1}};
  const std::vector<EventPace> wanted = {{kWindowRung, 2}, {kWindowRung, 2}};
  const auto next = step_towards(now, wanted);
  EXPECT_EQ(next, (std::vector<EventPace>{{kWindowRung, 8}, {kWindowRung, 8}}));
}

}  // namespace
}  // namespace memtrace::choose_rungs_test
