#include "cli/output/progress.h"

#include <gtest/gtest.h>

namespace memtrace {
namespace {

using Clock = Progress::Clock;

Clock::time_point now_here;

Clock::time_point now() {
  return now_here;
}

// What standard error has when `at` was called at each of these seconds.
std::string said_at(std::initializer_list<double> seconds, bool is_shown) {
  testing::internal::CaptureStderr();
  now_here = Clock::time_point();
  {
    Progress progress("reading", is_shown, now);
    for (const double second : seconds) {
      now_here = Clock::time_point(
          std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(second)));
      progress.at(static_cast<std::uint64_t>(second), 10);
    }
  }
  return testing::internal::GetCapturedStderr();
}

TEST(Progress, says_nothing_of_what_is_quick) {
  EXPECT_EQ(said_at({0.1, 1.9}, true), "");
}

TEST(Progress, line_comes_after_two_seconds_now_and_then_and_goes) {
  const std::string said = said_at({2.1, 2.2, 5}, true);
  EXPECT_NE(said.find("reading: 20 %"), std::string::npos) << said;
  EXPECT_EQ(said.find("reading: 20 %"), said.rfind("reading: 20 %")) << said;
  EXPECT_NE(said.find("reading: 50 %"), std::string::npos) << said;
  EXPECT_TRUE(said.ends_with("\r\x1b[K")) << said;
}

TEST(Progress, says_nothing_where_nobody_looks) {
  EXPECT_EQ(said_at({5, 9}, false), "");
}

TEST(Progress, whole_may_be_unknown) {
  EXPECT_EQ(describe_progress("reading", 7, 0), "reading");
  EXPECT_EQ(describe_progress("reading", 7, 5), "reading: 100 %");
}

}  // namespace
}  // namespace memtrace
