#include "views/leak/leak_timeline.h"

#include <gtest/gtest.h>

namespace memtrace::timeline_test {
namespace {

constexpr std::uint64_t kStartNs = 5'000'000'000;
constexpr std::uint64_t kSecondNs = 1'000'000'000;

TEST(LeakTimeline, begins_with_the_first_time_and_stays_within_32_intervals) {
  LeakTimeline timeline;
  EXPECT_EQ(timeline.reach(kStartNs), 0U);
  EXPECT_EQ(timeline.count(), 1U);
  const std::uint64_t width_ns = timeline.width_ns();
  EXPECT_EQ(timeline.reach(kStartNs + 31 * width_ns), 31U);
  EXPECT_EQ(timeline.doublings(), 0U);
  EXPECT_EQ(timeline.reach(kStartNs + 32 * width_ns), 16U);
  EXPECT_EQ(timeline.width_ns(), 2 * width_ns);
  EXPECT_EQ(timeline.count(), 17U);
  EXPECT_LT(timeline.reach(kStartNs + 3600 * kSecondNs), 32U);
  EXPECT_GE(timeline.count(), 16U);
  EXPECT_EQ(timeline.length_ns(), 3600 * kSecondNs);
}

TEST(LeakTimeline, a_time_before_the_first_is_in_the_first_interval) {
  LeakTimeline timeline;
  timeline.reach(kStartNs);
  EXPECT_EQ(timeline.reach(kStartNs - 1), 0U);
  EXPECT_EQ(timeline.length_ns(), 0U);
}

TEST(LeakTimeline, losses_stay_where_they_were_when_intervals_become_longer) {
  LeakTimeline timeline;
  timeline.reach(kStartNs);
  EXPECT_FALSE(timeline.has_losses());
  timeline.lose(kStartNs + 9 * timeline.width_ns());
  EXPECT_TRUE(timeline.lost_in(9, 9));
  EXPECT_FALSE(timeline.lost_in(0, 8));
  timeline.reach(kStartNs + 40 * timeline.width_ns());
  EXPECT_TRUE(timeline.lost_in(4, 4));
  EXPECT_FALSE(timeline.lost_in(5, 31));
  EXPECT_TRUE(timeline.has_losses());
}

}  // namespace
}  // namespace memtrace::timeline_test
