#include "session/interval_clock.h"

#include <gtest/gtest.h>

namespace memtrace {
namespace {

TEST(IntervalClockTest, window_counts_from_the_first_event_and_is_entered_once) {
  IntervalClock clock({.window = {.start_ns = 10, .stop_ns = 30}});
  EXPECT_FALSE(clock.is_past_window(1000)) << "it is not known yet where it lies";
  EXPECT_EQ(clock.enter_window(100), 110U);
  EXPECT_EQ(clock.enter_window(200), std::nullopt);
  EXPECT_EQ(clock.span().start_ns, 110U);
  EXPECT_FALSE(clock.is_past_window(130));
  EXPECT_TRUE(clock.is_past_window(131));
}

TEST(IntervalClockTest, window_without_an_end_does_not_wrap_around) {
  IntervalClock clock({.window = {.start_ns = ~0ULL}});
  EXPECT_EQ(clock.enter_window(100), ~0ULL);
}

TEST(IntervalClockTest, end_of_the_source_is_cut_to_the_window) {
  IntervalClock clock({.window = {.stop_ns = 30}});
  clock.enter_window(100);
  clock.see(120);
  clock.see(110);
  EXPECT_EQ(clock.span().end_ns, 120U);
  clock.end(115);
  EXPECT_EQ(clock.span().end_ns, 120U) << "an event was seen later";
  clock.end(500);
  EXPECT_EQ(clock.span().end_ns, 130U);
}

TEST(IntervalClockTest, intervals_end_one_after_another_without_a_gap) {
  IntervalClock clock({.interval_ns = 10});
  EXPECT_FALSE(clock.take_ended(100, 0)) << "the first begins now";
  EXPECT_FALSE(clock.take_ended(109, 0));
  EXPECT_FALSE(clock.has_ended_any());
  const auto first = clock.take_ended(125, 0);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->start_ns, 100U);
  EXPECT_EQ(first->end_ns, 110U);
  const auto second = clock.take_ended(125, 0);
  ASSERT_TRUE(second);
  EXPECT_EQ(second->start_ns, 110U);
  EXPECT_FALSE(clock.take_ended(125, 0));
  EXPECT_EQ(clock.span().start_ns, 120U);
}

TEST(IntervalClockTest, first_interval_begins_when_the_recording_did) {
  IntervalClock clock({.interval_ns = 10});
  const auto first = clock.take_ended(105, 95);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->start_ns, 95U);
}

TEST(IntervalClockTest, count_of_intervals_is_the_last) {
  IntervalClock clock({.interval_ns = 10, .interval_count = 1});
  EXPECT_FALSE(clock.is_over());
  EXPECT_FALSE(clock.take_ended(100, 0));
  EXPECT_TRUE(clock.take_ended(200, 0));
  EXPECT_TRUE(clock.is_over());
  EXPECT_FALSE(clock.take_ended(200, 0));
}

TEST(IntervalClockTest, without_intervals_none_ends) {
  IntervalClock clock({});
  EXPECT_FALSE(clock.take_ended(1'000'000, 1));
  EXPECT_FALSE(clock.is_over());
}

TEST(IntervalClock, may_be_told_to_stop_early) {
  IntervalClock clock({.window = {.stop_ns = 1000}});
  clock.stop_before(50);  // not entered
  EXPECT_FALSE(clock.is_past_window(50));
  clock.enter_window(100);
  clock.stop_before(400);
  EXPECT_FALSE(clock.is_past_window(399));
  EXPECT_TRUE(clock.is_past_window(400));
  clock.stop_before(900);  // it stops earlier
  EXPECT_TRUE(clock.is_past_window(400));
}

}  // namespace
}  // namespace memtrace
