#include "base/wall_time.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <time.h>

#include <string>

namespace memtrace {
namespace {

// In a zone of its own, and back in the caller's at its end.
class WallTimeTest : public testing::Test {
 protected:
  WallTimeTest() {
    const char* before = ::getenv("TZ");
    had_ = before != nullptr;
    before_ = had_ ? before : "";
    ::setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1);
    ::tzset();
  }

  ~WallTimeTest() override {
    had_ ? ::setenv("TZ", before_.c_str(), 1) : ::unsetenv("TZ");
    ::tzset();
  }

  static constexpr std::uint64_t kNovember = 1'795'439'039'123'456'789;  // 2026-11-23, 14:03:59
  static constexpr std::uint64_t kJuly = 1'783'000'000'000'000'000;

 private:
  bool had_ = false;
  std::string before_;
};

TEST_F(WallTimeTest, words_are_local_and_have_their_zone) {
  EXPECT_EQ(local_date(kNovember), "2026-11-23");
  EXPECT_EQ(local_time(kNovember), "14:03:59.123456");
  EXPECT_EQ(local_zone(kNovember), "+01:00");
  EXPECT_EQ(rfc3339(kNovember), "2026-11-23T14:03:59.123456789+01:00");
  EXPECT_EQ(local_zone(kJuly), "+02:00") << "in summer";
}

TEST_F(WallTimeTest, times_without_a_zone_are_local) {
  EXPECT_EQ(parse_wall_time("2026-11-23 14:03:59.123456789", 0), kNovember);
  EXPECT_EQ(parse_wall_time("2026-11-23T14:03", 0), kNovember - 59'123'456'789);
}

TEST_F(WallTimeTest, times_with_a_zone_are_of_that_zone) {
  EXPECT_EQ(parse_wall_time("2026-11-23T14:03:59.123456789+01:00", 0), kNovember);
  EXPECT_EQ(parse_wall_time("2026-11-23T13:03:59.123456789Z", 0), kNovember);
  EXPECT_EQ(parse_wall_time("2026-11-23T08:33:59.123456789-04:30", 0), kNovember);
}

TEST_F(WallTimeTest, what_is_printed_is_understood) {
  EXPECT_EQ(parse_wall_time(rfc3339(kNovember), 0), kNovember);
  EXPECT_EQ(parse_wall_time(rfc3339(kJuly), 0), kJuly);
}

TEST_F(WallTimeTest, time_of_day_is_of_the_day_of_the_start_or_the_next) {
  EXPECT_EQ(parse_wall_time("14:04:00", kNovember), kNovember + 876'543'211);
  EXPECT_EQ(parse_wall_time("14:03:59", kNovember), kNovember - 123'456'789) << "that second";
  EXPECT_EQ(parse_wall_time("14:03", kNovember), kNovember - 59'123'456'789) << "a minute before";
  constexpr std::uint64_t kHourNs = 3'600'000'000'000;
  EXPECT_EQ(parse_wall_time("01:03:59.123456789", kNovember), kNovember + 11 * kHourNs)
      << "a recording that goes on past midnight";
}

TEST_F(WallTimeTest, anything_else_is_none) {
  for (const char* text : {"",
                           "14",
                           "14:",
                           "14:3",
                           "24:00",
                           "14:60",
                           "14:03:",
                           "14:03:61",
                           "14:03:59.",
                           "14:03:59x",
                           "14:03+01:00",
                           "2026-11-23",
                           "2026-13-01 00:00",
                           "2026-11-23 14:03:59 +01:00",
                           "2026-11-23T14:03:59+0100",
                           "1.5"}) {
    EXPECT_EQ(parse_wall_time(text, kNovember), std::nullopt) << text;
  }
}

TEST_F(WallTimeTest, colon_tells_times_of_day_from_durations) {
  EXPECT_TRUE(looks_like_wall_time("14:03"));
  EXPECT_FALSE(looks_like_wall_time("1.5"));
  EXPECT_FALSE(looks_like_wall_time("200ms"));
}

}  // namespace
}  // namespace memtrace
