#include "os/catch_up.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <chrono>
#include <thread>

namespace memtrace {
namespace {

constexpr std::uint64_t kMillisecond = 1'000'000;

TEST(PriorityBudget, who_is_not_behind_needs_none) {
  PriorityBudget budget;
  EXPECT_FALSE(budget.allows(false, kMillisecond, 0));
  EXPECT_TRUE(budget.allows(true, 2 * kMillisecond, 0));
}

TEST(PriorityBudget, share_of_a_period_is_used_up) {
  PriorityBudget budget;
  const std::uint64_t start = PriorityBudget::kPeriodNs;
  EXPECT_TRUE(budget.allows(true, start, 7));
  EXPECT_TRUE(budget.allows(true, start + 1, 6 + PriorityBudget::kShareNs));
  EXPECT_FALSE(budget.allows(true, start + 2, 7 + PriorityBudget::kShareNs));
  EXPECT_FALSE(
      budget.allows(true, start + PriorityBudget::kPeriodNs - 1, 9 + PriorityBudget::kShareNs));
  EXPECT_TRUE(budget.allows(true, start + PriorityBudget::kPeriodNs, 9 + PriorityBudget::kShareNs));
}

// Whatever it asks for, over a second the thread has priority for the share and what one step
// takes.
TEST(PriorityBudget, machine_keeps_the_rest) {
  PriorityBudget budget;
  std::uint64_t used = 0;
  std::uint64_t with_priority = 0;
  for (std::uint64_t now = PriorityBudget::kPeriodNs; now < 21 * PriorityBudget::kPeriodNs;
       now += kMillisecond) {
    used += kMillisecond;
    with_priority += budget.allows(true, now, used) ? kMillisecond : 0;
  }
  EXPECT_LE(with_priority, 20 * (PriorityBudget::kShareNs + kMillisecond));
  EXPECT_GE(with_priority, 20 * (PriorityBudget::kShareNs - kMillisecond));
}

int policy() {
  return ::sched_getscheduler(0) & ~SCHED_RESET_ON_FORK;
}

bool may_be_in_real_time() {
  const sched_param lowest{.sched_priority = 1};
  const sched_param none{};
  return ::sched_setscheduler(0, SCHED_RR, &lowest) == 0 &&
         ::sched_setscheduler(0, SCHED_OTHER, &none) == 0;
}

void check_in_a_thread() {
  if (!may_be_in_real_time()) {
    GTEST_SKIP() << "this user may not use SCHED_RR";
  }
  {
    CatchUp catch_up;
    catch_up.keep(false);
    EXPECT_EQ(policy(), SCHED_OTHER);
    catch_up.keep(true);
    EXPECT_EQ(policy(), SCHED_RR);
    catch_up.keep(false);
    EXPECT_EQ(policy(), SCHED_RR) << "for five seconds";
  }
  EXPECT_EQ(policy(), SCHED_OTHER);
}

TEST(CatchUp, thread_has_priority_only_when_it_was_behind) {
  std::thread(check_in_a_thread).join();
}

// Works for a second, and calls keep() each time round.
void check_each_period() {
  if (!may_be_in_real_time()) {
    GTEST_SKIP() << "this user may not use SCHED_RR";
  }
  CatchUp catch_up;
  int begun = 0;
  int was = SCHED_OTHER;
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(1);
  while (std::chrono::steady_clock::now() < end) {
    catch_up.keep(true);
    begun += was == SCHED_OTHER && policy() == SCHED_RR ? 1 : 0;
    was = policy();
  }
  EXPECT_GE(begun, 3) << "of twenty periods";
}

TEST(CatchUp, priority_comes_back_in_each_period) {
  std::thread(check_each_period).join();
}

TEST(CatchUp, thread_in_real_time_is_left_alone) {
  std::thread([] {
    if (!may_be_in_real_time()) {
      GTEST_SKIP() << "this user may not use SCHED_RR";
    }
    const sched_param own{.sched_priority = 3};
    ASSERT_EQ(::sched_setscheduler(0, SCHED_FIFO, &own), 0);
    {
      CatchUp catch_up;
      catch_up.keep(true);
      EXPECT_EQ(policy(), SCHED_FIFO);
    }
    EXPECT_EQ(policy(), SCHED_FIFO);
  }).join();
}

}  // namespace
}  // namespace memtrace
