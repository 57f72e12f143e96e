#include "session/time_window.h"

#include <gtest/gtest.h>

namespace memtrace::time_window_test {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;

TEST(TimeWindowTest, either_end_may_be_left_out) {
  const auto both = parse_time_window("1.5,3");
  ASSERT_TRUE(both.ok());
  EXPECT_EQ(both.value().start_ns, 3 * kSecond / 2);
  EXPECT_EQ(both.value().stop_ns, 3 * kSecond);
  const auto from = parse_time_window("200ms,");
  ASSERT_TRUE(from.ok());
  EXPECT_EQ(from.value().start_ns, kSecond / 5);
  EXPECT_EQ(from.value().stop_ns, TimeWindow{}.stop_ns);
  const auto to = parse_time_window(",2m");
  ASSERT_TRUE(to.ok());
  EXPECT_EQ(to.value().start_ns, 0U);
  EXPECT_EQ(to.value().stop_ns, 120 * kSecond);
}

TEST(TimeWindowTest, anything_else_is_a_usage_error) {
  for (const char* text : {"", ",", "1", "3,1", "2,2", "a,b", "1,2,3", "-1,2"}) {
    const auto window = parse_time_window(text);
    ASSERT_FALSE(window.ok()) << text;
    EXPECT_EQ(window.error().kind, ErrorKind::Usage) << text;
  }
}

// 2026-11-23, 12:00:00 in Greenwich, 6,039 s after the machine's start.
constexpr ClockPair kClock{.record_ns = 6039 * kSecond, .wall_ns = 1'795'435'200 * kSecond};

TEST(TimeWindowTest, times_of_day_count_from_when_the_recording_began) {
  const auto asked = parse_time_window("2026-11-23T12:00:10Z,2026-11-23T12:00:20.5Z");
  ASSERT_TRUE(asked.ok());
  EXPECT_TRUE(asked.value().is_of_wall());
  const auto window = asked.value().since(6041 * kSecond, kClock);
  ASSERT_TRUE(window.ok());
  EXPECT_FALSE(window.value().is_of_wall());
  EXPECT_EQ(window.value().start_ns, 8 * kSecond);
  EXPECT_EQ(window.value().stop_ns, 18 * kSecond + kSecond / 2);
}

TEST(TimeWindowTest, time_of_day_may_be_one_end_alone_or_before_the_recording) {
  const auto to = parse_time_window(",2026-11-23T12:00:10Z").value().since(6040 * kSecond, kClock);
  EXPECT_EQ(to.value().start_ns, 0U);
  EXPECT_EQ(to.value().stop_ns, 9 * kSecond);
  const auto from =
      parse_time_window("2026-11-23T11:00:00Z,").value().since(6040 * kSecond, kClock);
  EXPECT_EQ(from.value().start_ns, 0U);
  const auto mixed =
      parse_time_window("2,2026-11-23T12:00:10Z").value().since(6040 * kSecond, kClock);
  EXPECT_EQ(mixed.value().start_ns, 2 * kSecond);
}

TEST(TimeWindowTest, times_of_day_need_a_clock_and_an_end_after_the_start) {
  const auto wall = parse_time_window("12:00,12:01");
  ASSERT_TRUE(wall.ok());
  EXPECT_FALSE(wall.value().since(0, {}).ok());
  const auto wrong = parse_time_window("2026-11-23T12:00:10Z,2026-11-23T12:00:05Z");
  EXPECT_EQ(wrong.value().since(6039 * kSecond, kClock).error().kind, ErrorKind::Usage);
  EXPECT_FALSE(parse_time_window("12:99,").ok());
}

}  // namespace
}  // namespace memtrace::time_window_test
