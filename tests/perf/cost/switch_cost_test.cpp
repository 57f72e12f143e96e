// What the context switches of a watched task cost: of real threads.
#include "perf/cost/switch_cost.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <thread>

namespace memtrace::switch_cost_test {
namespace {

constexpr double kWatchedNs = 100'000'000;
constexpr double kLargest = 1'000'000;  // ns, of a switch

void sleep_often() {
  for (int i = 0; i < 50; ++i) {
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
}

TEST(SwitchCostTest, a_switch_with_an_event_costs_something) {
  const auto measured = measure_switch_ns(1);
  if (!measured.ok()) {
    GTEST_SKIP() << describe(measured.error());
  }
  EXPECT_GT(measured.value(), 0);
  EXPECT_LT(measured.value(), kLargest);
}

TEST(SwitchCostTest, each_switch_of_a_watched_thread_counts) {
  SwitchCost cost({.tids = {::gettid()}, .limit = 1.0});
  const double before = cost.take_ns(kWatchedNs);
  sleep_often();
  const double after = cost.take_ns(kWatchedNs);
  if (after == 0) {
    GTEST_SKIP() << "context-switches cannot be counted here";
  }
  EXPECT_GT(after, before);
  EXPECT_EQ(cost.take_news(), "");
}

TEST(SwitchCostTest, more_than_the_limit_is_told_once) {
  SwitchCost cost({.tids = {::gettid()}, .limit = 1e-9});
  sleep_often();
  if (cost.take_ns(kWatchedNs) == 0) {
    GTEST_SKIP() << "context-switches cannot be counted here";
  }
  EXPECT_NE(cost.take_news().find("context switch of a watched task"), std::string::npos);
  sleep_often();
  EXPECT_GT(cost.take_ns(kWatchedNs), 0);
  EXPECT_EQ(cost.take_news(), "");
}

TEST(SwitchCostTest, who_watches_cpus_pays_nothing_at_a_switch) {
  SwitchCost cost({.tids = {-1}, .inherit = true, .limit = 1e-9});
  sleep_often();
  EXPECT_EQ(cost.take_ns(kWatchedNs), 0);
  EXPECT_EQ(cost.take_news(), "");
}

}  // namespace
}  // namespace memtrace::switch_cost_test
