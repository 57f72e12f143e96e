#include "sections/recording_facts.h"

#include <gtest/gtest.h>

namespace memtrace {
namespace {

TEST(AboutTest, windows_are_written_and_read) {
  RecordingFacts said;
  said.windows = {{.from_ns = 12'345'678'901, .length_ns = 25'000'000, .share = 4},
                  {.from_ns = 12'400'000'000, .length_ns = 390'625, .share = 256}};
  EXPECT_EQ(parse_recording_facts(to_json(said)).windows, said.windows);
}

TEST(AboutTest, all_that_is_said_is_read_back) {
  const RecordingFacts said{.target = "gcc -c \"x y.c\"",
                            .boot_id = "0f2c",
                            .migratetypes = {"Unmovable", "Movable"},
                            .notes = {"rings are small"},
                            .notes_of_samples = {"a stack ends early"},
                            .own_samples = 1,
                            .own_events = {{"kmem:kfree", 1}, {"kmem:kmalloc", 0}},
                            .late = 2,
                            .overload = 3,
                            .malformed = 4,
                            .cut_stacks = 5,
                            .disk_full = 6};
  const RecordingFacts read = parse_recording_facts(to_json(said));
  EXPECT_EQ(read.target, said.target);
  EXPECT_EQ(read.boot_id, "0f2c");
  EXPECT_EQ(read.migratetypes, said.migratetypes);
  EXPECT_EQ(read.notes, said.notes);
  EXPECT_EQ(read.notes_of_samples, said.notes_of_samples);
  EXPECT_EQ(read.own_samples, 1U);
  EXPECT_EQ(read.own_events, said.own_events);
  EXPECT_EQ(read.late, 2U);
  EXPECT_EQ(read.overload, 3U);
  EXPECT_EQ(read.malformed, 4U);
  EXPECT_EQ(read.cut_stacks, 5U);
  EXPECT_EQ(read.disk_full, 6U);
}

TEST(AboutTest, times_of_the_recording_and_of_its_losses_come_back) {
  const RecordingFacts about{
      .started_ns = 5,
      .stopped_ns = 1'000'000'005,
      .losses = {{LossReason::Kernel, 7, 9, 3}, {LossReason::DiskFull, 11, 11, 1}}};
  const RecordingFacts read = parse_recording_facts(to_json(about));
  EXPECT_EQ(read.started_ns, 5U);
  EXPECT_EQ(read.stopped_ns, 1'000'000'005U);
  EXPECT_EQ(read.losses, about.losses);
  EXPECT_TRUE(parse_recording_facts(R"({"losses": [["by magic", 1, 2, 3]]})").losses.empty());
}

TEST(AboutTest, slab_caches_come_back) {
  const RecordingFacts about{.slab_caches = {{"dentry", 192}, {"filp", 256}}};
  EXPECT_EQ(parse_recording_facts(to_json(about)).slab_caches, about.slab_caches);
}

TEST(AboutTest, growth_of_counters_comes_back) {
  const RecordingFacts about{.filters = {{"kmem:mm_page_alloc", "order >= 9"}},
                             .vmstat = {{"pswpin", 12}, {"pgfault", ~std::uint64_t{0}}}};
  EXPECT_EQ(parse_recording_facts(to_json(about)).vmstat, about.vmstat);
  EXPECT_EQ(parse_recording_facts(to_json(about)).filters, about.filters);
}

TEST(AboutTest, what_is_missing_stays_at_its_default) {
  const RecordingFacts read =
      parse_recording_facts(R"({"target": "process 12", "from_a_later_version": [1]})");
  EXPECT_EQ(read.target, "process 12");
  EXPECT_EQ(read.late, 0U);
  EXPECT_TRUE(read.migratetypes.empty());
}

TEST(AboutTest, other_bytes_say_nothing) {
  for (const char* bytes : {"", "{", "[]", "null", "\xff\xfe", R"({"target": 7})"}) {
    EXPECT_EQ(parse_recording_facts(bytes).target, "") << bytes;
  }
}

TEST(AboutTest, figures_of_the_wrong_kind_keep_what_was_read_before_them) {
  const RecordingFacts read = parse_recording_facts(R"({"target": "process 12", "late": "many"})");
  EXPECT_EQ(read.target, "process 12");
  EXPECT_EQ(read.late, 0U);
}

TEST(AboutTest, a_command_line_that_is_not_utf8_can_be_written) {
  EXPECT_NE(parse_recording_facts(to_json({.target = "cat \xff.txt"})).target, "");
}

}  // namespace
}  // namespace memtrace
