#include "base/log.h"

#include <gtest/gtest.h>

#include <string>

namespace memtrace {
namespace {

TEST(Log, warnings_go_to_stderr_and_say_what_they_are) {
  testing::internal::CaptureStderr();
  testing::internal::CaptureStdout();
  warn("100% of the ring is full");
  inform(std::string_view("removed a stale probe group!").substr(0, 27));
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "memtrace: warning: 100% of the ring is full\n"
            "memtrace: removed a stale probe group\n");
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
}

}  // namespace
}  // namespace memtrace
