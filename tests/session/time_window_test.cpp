#include "session/time_window.h"

#include <gtest/gtest.h>

namespace memtrace {
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

}  // namespace
}  // namespace memtrace
