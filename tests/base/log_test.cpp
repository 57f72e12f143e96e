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

TEST(Log, status_is_replaced_by_the_next_one_and_by_a_message) {
  testing::internal::CaptureStderr();
  show_status("");
  show_status("1 s");
  show_status("2 s");
  warn("late");
  inform("done");
  show_status("3 s");
  show_status("");
  show_status("");
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "\r\x1b[K1 s\r\x1b[K2 s\r\x1b[Kmemtrace: warning: late\n"
            "memtrace: done\n"
            "\r\x1b[K3 s\r\x1b[K");
}

}  // namespace
}  // namespace memtrace
