#include "perf/file_in/file_losses.h"

#include <gtest/gtest.h>
#include <linux/perf_event.h>

#include <array>
#include <cstring>

#include "perf/record/perf_format.h"

namespace memtrace {
namespace {

class FileLossesTest : public testing::Test {
 protected:
  // What is left of a record of losses.
  std::uint64_t count(std::uint32_t type, std::uint64_t time_ns, std::uint64_t count) {
    const RecordHeader header{.type = type, .misc = 0, .size_bytes = sizeof(RecordHeader)};
    std::memcpy(bytes_.data(), &header, sizeof(header));
    Record record{.stamp = {.time_ns = time_ns},
                  .payload = Lost{count},
                  .bytes = std::as_bytes(std::span(bytes_))};
    losses_.count_once(record);
    return std::get<Lost>(record.payload).count;
  }

  static constexpr std::uint32_t kLostSamples = 13;  // PERF_RECORD_LOST_SAMPLES

  std::array<std::uint64_t, 1> bytes_{};
  FileLosses losses_;
};

TEST_F(FileLossesTest, sum_at_the_end_is_only_what_no_record_told) {
  EXPECT_EQ(count(PERF_RECORD_LOST, 10, 5), 5U);
  EXPECT_EQ(count(PERF_RECORD_LOST, 20, 2), 2U);
  EXPECT_EQ(count(kLostSamples, 0, 4), 0U) << "of the first event";
  EXPECT_EQ(count(kLostSamples, 0, 9), 6U) << "of the second: 3 of the 7 are left to explain it";
}

TEST_F(FileLossesTest, samples_lost_at_a_known_time_are_losses_of_their_own) {
  EXPECT_EQ(count(PERF_RECORD_LOST, 10, 5), 5U);
  EXPECT_EQ(count(kLostSamples, 20, 4), 4U);
}

TEST_F(FileLossesTest, late_records_are_told_once) {
  EXPECT_FALSE(losses_.next_late(0, 5));
  const auto first = losses_.next_late(3, 6);
  ASSERT_TRUE(first);
  EXPECT_EQ(std::get<Lost>(first->payload).count, 3U);
  EXPECT_EQ(std::get<Lost>(first->payload).reason, LossReason::Late);
  EXPECT_EQ(first->stamp.time_ns, 6U);
  EXPECT_FALSE(losses_.next_late(3, 7));
  EXPECT_EQ(std::get<Lost>(losses_.next_late(4, 8)->payload).count, 1U);
}

}  // namespace
}  // namespace memtrace
