#include "sections/recording_part.h"

#include <gtest/gtest.h>

namespace memtrace {
namespace {

TEST(RecordingPartTest, comes_back_as_it_was_written) {
  const RecordingPart part{
      .recording = "17ab-12", .number = 3, .state_records = 4567, .started_ns = 89};
  EXPECT_EQ(parse_recording_part(to_json(part)), part);
}

TEST(RecordingPartTest, of_what_is_no_part_nothing_is_known) {
  EXPECT_EQ(parse_recording_part(""), RecordingPart{});
  EXPECT_EQ(parse_recording_part("[1]"), RecordingPart{});
  EXPECT_EQ(parse_recording_part(R"({"recording":7,"number":2})").number, 0U);
}

}  // namespace
}  // namespace memtrace
