#include "watch/capture.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "support/recorded.h"
#include "watch/ring_writer.h"

namespace memtrace::test {
namespace {

// Two segments of fifty samples; each but the first begins with the name of the process.
void fill(RingWriter& records) {
  records.begin({.start_ns = 900,
                 .identities = "user 1 a\n",
                 .own_samples = 3,
                 .own_events = {{"kmem:kfree", 3}}},
                {});
  records.write(comm_record("eater", 1000));
  for (std::uint64_t i = 0; i < 50; ++i) {
    records.write(kmalloc_sample(1001 + i));
  }
  records.begin({.start_ns = 1100,
                 .began_ns = 50,
                 .identities = "user 2 b\n",
                 .own_samples = 5,
                 .own_events = {{"kmem:kfree", 4}, {"kmem:kmalloc", 1}}},
                comm_record("eater", 1100));
  for (std::uint64_t i = 0; i < 50; ++i) {
    records.write(kmalloc_sample(1101 + i));
  }
  records.flush();
}

Capture capture_from(std::size_t segment) {
  Capture capture{.setup = kmalloc_setup(),
                  .first_segment = segment,
                  .own_samples = 7,
                  .own_events = {{"kmem:kfree", 4}, {"kmem:kmalloc", 3}}};
  capture.setup.zstd_level = 1;
  capture.facts.watch.triggers = {{"oom", 1120, "a kill"}};
  return capture;
}

class CaptureTest : public testing::Test {
 protected:
  CaptureTest() : ring_(SegmentRing::create(1 << 20).take()), records_(ring_) { fill(records_); }

  SegmentRing ring_;
  RingWriter records_;
};

TEST_F(CaptureTest, whole_ring_has_each_record_once) {
  const TempFile file("whole");
  const auto written = write_capture(file.path(), ring_, capture_from(0));
  ASSERT_TRUE(written.ok()) << describe(written.error());
  EXPECT_EQ(written.value().samples, 100U);
  const Recorded recorded = read_all(file.path());
  EXPECT_EQ(recorded.sample_times_ns.size(), 100U);
  EXPECT_EQ(recorded.comms.size(), 1U) << "the state of the second segment is no news";
  EXPECT_TRUE(recorded.recording.caveats.empty());
  EXPECT_EQ(recorded.recording.identities, "user 1 a\nuser 2 b\n");
  const RecordingFacts facts = parse_recording_facts(recorded.recording.about_json);
  EXPECT_EQ(facts.started_ns, 900U);
  EXPECT_EQ(facts.own_samples, 4U);
  EXPECT_EQ(facts.own_events.at("kmem:kfree"), 1U);
  EXPECT_EQ(facts.own_events.at("kmem:kmalloc"), 3U) << "it was not known at the start";
  ASSERT_EQ(facts.watch.triggers.size(), 1U);
  EXPECT_EQ(facts.watch.triggers[0].word, "oom");
}

TEST_F(CaptureTest, file_may_begin_with_any_segment) {
  const TempFile file("part");
  ASSERT_TRUE(write_capture(file.path(), ring_, capture_from(1)).ok());
  const Recorded recorded = read_all(file.path());
  ASSERT_EQ(recorded.sample_times_ns.size(), 50U);
  EXPECT_EQ(recorded.sample_times_ns.front(), 1101U);
  EXPECT_EQ(recorded.comms.size(), 1U);
  const RecordingFacts facts = parse_recording_facts(recorded.recording.about_json);
  EXPECT_EQ(facts.started_ns, 1100U);
  EXPECT_EQ(facts.own_samples, 2U);
  EXPECT_EQ(facts.own_events.at("kmem:kfree"), 0U);
  EXPECT_EQ(facts.own_events.at("kmem:kmalloc"), 2U);
}

TEST_F(CaptureTest, folder_that_is_not_there_is_an_error) {
  EXPECT_FALSE(write_capture("/no/such/folder/file", ring_, capture_from(0)).ok());
}

}  // namespace
}  // namespace memtrace::test
