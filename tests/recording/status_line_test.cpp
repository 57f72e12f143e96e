// The line that a terminal shows while memtrace records.
#include "recording/status_line.h"

#include <gtest/gtest.h>

namespace memtrace::status_line_test {
namespace {

constexpr std::uint64_t kSecondNs = 1'000'000'000;

TEST(StatusLineTest, rates_are_those_since_the_last_line) {
  const RecordingProgress before{
      .time_ns = 10 * kSecondNs, .samples = 100'000, .cpu_ns = kSecondNs};
  const RecordingProgress now{.time_ns = 12 * kSecondNs,
                              .samples = 410'062,
                              .file_bytes = 25U << 20U,
                              .cpu_ns = kSecondNs + kSecondNs / 2,
                              .memory_bytes = 134U << 20U};
  EXPECT_EQ(status_text(now, before),
            "12 s  155,031 events/s  none lost  25.0 MiB  25 % of a CPU  134.0 MiB of memory");
}

TEST(StatusLineTest, losses_are_counted_and_unknown_memory_is_left_out) {
  const RecordingProgress now{.time_ns = kSecondNs, .samples = 5, .lost = 1234};
  EXPECT_EQ(status_text(now, {}), "1 s  5 events/s  1,234 lost  0 B  0 % of a CPU");
}

TEST(StatusLineTest, without_a_terminal_nothing_is_shown) {
  testing::internal::CaptureStderr();
  StatusLine line(false);
  line.show(1, 0, 0);
  line.end();
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

}  // namespace
}  // namespace memtrace::status_line_test
