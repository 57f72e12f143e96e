#include "perf/live/tick_clock.h"

#include <gtest/gtest.h>

namespace memtrace {
namespace {

TEST(TickClockTest, monotonic_records_say_themselves_how_far_they_are) {
  TickClock clock(true);
  EXPECT_EQ(clock.time_ns(100, 500), 100U);
  EXPECT_EQ(clock.time_ns(100, 900), 100U);
}

TEST(TickClockTest, between_records_of_another_clock_time_goes_on) {
  TickClock clock(false);
  EXPECT_EQ(clock.time_ns(0, 500), 500U) << "both count from the start of the machine";
  EXPECT_EQ(clock.time_ns(100, 1000), 100U);
  EXPECT_EQ(clock.time_ns(100, 1030), 130U);
  EXPECT_EQ(clock.time_ns(200, 1040), 200U);
  EXPECT_EQ(clock.time_ns(200, 1041), 201U);
}

}  // namespace
}  // namespace memtrace
