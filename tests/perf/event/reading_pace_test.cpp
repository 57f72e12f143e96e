#include "perf/event/reading_pace.h"

#include <gtest/gtest.h>

namespace memtrace {
namespace {

constexpr std::uint64_t kMillisecondNs = 1'000'000;

TEST(ReadingPace, a_quiet_ring_waits_as_long_as_its_reader_may) {
  EXPECT_EQ(ReadingPace(false, false).milliseconds(false), ReadingPace::kIdleMilliseconds);
  EXPECT_EQ(ReadingPace(false, true).milliseconds(false), ReadingPace::kWaitedForMilliseconds);
  EXPECT_EQ(ReadingPace(true, false).milliseconds(false), ReadingPace::kBusyMilliseconds);
}

TEST(ReadingPace, patient_reader_looks_no_more_often_when_records_come) {
  ReadingPace pace(false, false, true);
  pace.note(100 * ReadingPace::kFewBytesPerMillisecond, kMillisecondNs);
  EXPECT_EQ(pace.milliseconds(true), ReadingPace::kIdleMilliseconds);
  EXPECT_EQ(ReadingPace(true, false, true).milliseconds(true), ReadingPace::kBusyMilliseconds);
}

TEST(ReadingPace, many_bytes_are_read_while_they_are_cached_and_few_ones_later) {
  ReadingPace pace(false, false);
  EXPECT_EQ(pace.milliseconds(true), ReadingPace::kBusyMilliseconds) << "not known yet";
  pace.note(100, 1000 * kMillisecondNs);
  EXPECT_EQ(pace.milliseconds(true), ReadingPace::kCalmMilliseconds);
  EXPECT_EQ(pace.milliseconds(false), ReadingPace::kIdleMilliseconds);
  pace.note(20 * ReadingPace::kFewBytesPerMillisecond, 1020 * kMillisecondNs);
  EXPECT_EQ(pace.milliseconds(true), ReadingPace::kBusyMilliseconds);
  pace.note(5 * ReadingPace::kFewBytesPerMillisecond - 1, 1025 * kMillisecondNs);
  EXPECT_EQ(pace.milliseconds(true), ReadingPace::kCalmMilliseconds);
}

TEST(ReadingPace, who_is_prompt_stays_so) {
  ReadingPace pace(true, true);
  pace.note(0, kMillisecondNs);
  EXPECT_EQ(pace.milliseconds(true), ReadingPace::kBusyMilliseconds);
}

}  // namespace
}  // namespace memtrace
