#include "timeline/timed_costs.h"

#include <gtest/gtest.h>

#include <map>

#include "timeline/time_slots.h"

namespace memtrace {
namespace {

std::string name_of_comm(StringId comm) {
  return "p" + std::to_string(comm.value);
}

Timeline::Amounts sum_over(const std::vector<Timeline::Source>& sources) {
  Timeline::Amounts sum{};
  for (const Timeline::Source& source : sources) {
    for (const Timeline::Amount& amount : source.amounts) {
      for (std::size_t i = 0; i < sum.size(); ++i) {
        sum[i] += amount.figures[i];
      }
    }
  }
  return sum;
}

TEST(TimeSlots, a_time_beyond_the_last_slot_joins_slots) {
  TimeSlots slots;
  slots.start(1'000'000'000);
  EXPECT_EQ(slots.reach(1'199'000'000), 0U);
  EXPECT_EQ(slots.slot_of(1'199'000'000), 199U);
  EXPECT_EQ(slots.reach(1'200'000'000), 1U);
  EXPECT_EQ(slots.slot_of(1'199'000'000), 99U);
  EXPECT_EQ(slots.reach(2'700'000'000), 3U);
  EXPECT_EQ(slots.width_ns(), 16'000'000U);
}

TEST(TimeSlots, what_comes_before_the_start_is_of_the_first_slot) {
  TimeSlots slots;
  slots.start(1'000'000'000);
  EXPECT_EQ(slots.slot_of(5), 0U);
}

TEST(TimedCosts, amounts_of_one_slot_add_up_also_when_they_come_late) {
  TimedCosts costs;
  costs.add({.comm = {1}, .stack = {7}}, 3, {10, 1, 0});
  costs.add({.comm = {1}, .stack = {7}}, 5, {20, 1, 0});
  costs.add({.comm = {1}, .stack = {7}}, 3, {1, 1, 4});
  costs.add({.comm = {1}, .stack = {7}}, 4, {2, 0, 0});
  const auto sources = costs.largest(name_of_comm);
  ASSERT_EQ(sources.size(), 1U);
  ASSERT_EQ(sources[0].amounts.size(), 3U);
  EXPECT_EQ(sources[0].comm, "p1");
  EXPECT_EQ(sources[0].amounts[0].slot, 3U);
  EXPECT_EQ(sources[0].amounts[0].figures, (Timeline::Amounts{11, 2, 4}));
  EXPECT_EQ(sources[0].amounts[1].slot, 4U);
  EXPECT_EQ(sources[0].amounts[2].slot, 5U);
}

TEST(TimedCosts, joined_slots_hold_both) {
  TimedCosts costs;
  for (std::uint32_t slot = 0; slot < 8; ++slot) {
    costs.add({.comm = {1}, .stack = {7}}, slot, {slot, 1, 0});
  }
  costs.join(2);
  const auto sources = costs.largest(name_of_comm);
  ASSERT_EQ(sources[0].amounts.size(), 2U);
  EXPECT_EQ(sources[0].amounts[0].figures, (Timeline::Amounts{0 + 1 + 2 + 3, 4, 0}));
  EXPECT_EQ(sources[0].amounts[1].figures, (Timeline::Amounts{4 + 5 + 6 + 7, 4, 0}));
}

// Nothing is lost when there are more sources than a page shows, and the largest by any figure
// stay.
TEST(TimedCosts, the_rest_is_kept_by_process) {
  TimedCosts costs;
  Timeline::Amounts all{};
  for (std::uint32_t i = 1; i <= 2000; ++i) {
    const Timeline::Amounts amounts = {i, i == 3 ? 100'000U : 1U, 2001 - i};
    costs.add({.comm = {i % 60}, .stack = {i}}, i % 50, amounts);
    for (std::size_t figure = 0; figure < all.size(); ++figure) {
      all[figure] += amounts[figure];
    }
  }
  const auto sources = costs.largest(name_of_comm);
  EXPECT_LE(sources.size(), 400U);
  EXPECT_EQ(sum_over(sources), all);
  std::map<std::uint32_t, const Timeline::Source*> by_stack;
  std::size_t rests = 0;
  for (const Timeline::Source& source : sources) {
    by_stack[source.stack.value] = &source;
    rests += source.is_rest ? 1 : 0;
    EXPECT_EQ(source.is_rest, !source.stack.valid());
  }
  EXPECT_TRUE(by_stack.contains(2000));  // by the first figure
  EXPECT_TRUE(by_stack.contains(3));     // by the second
  EXPECT_TRUE(by_stack.contains(1));     // by the third
  EXPECT_FALSE(by_stack.contains(1000));
  EXPECT_GT(rests, 1U);
  EXPECT_LE(rests, 121U);
}

}  // namespace
}  // namespace memtrace
