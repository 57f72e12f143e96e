#include "recording/recorder.h"

#include <gtest/gtest.h>

#include <fstream>

#include "perf/file_in/file_source.h"
#include "support/temp_dir.h"

namespace memtrace {
namespace {

class RecorderTest : public testing::Test {
 protected:
  // Page faults of one's own command in user mode: what every user may record.
  RecordOptions options(std::vector<std::string> command) {
    auto selected = select_events({.events = {"page-faults"}, .plan_only = true});
    EXPECT_TRUE(selected.ok());
    RecordOptions options{.selected = selected.take(),
                          .output = dir_.file("out.data"),
                          .embed_symbols = false,
                          .command_line = {"memtrace", "record"}};
    options.live.target = {.kind = TargetKind::Command, .command = std::move(command)};
    options.live.call_graph = {.kernel = false, .user = false};
    return options;
  }

  test::TempDir dir_;
};

bool may_record() {
  return probe_features().ok();
}

TEST_F(RecorderTest, samples_that_are_counted_are_in_the_file) {
  if (!may_record()) {
    GTEST_SKIP() << "perf_event_open(2) may not be used";
  }
  auto summary = record(options({"/bin/true"}));
  ASSERT_TRUE(summary.ok()) << describe(summary.error());
  EXPECT_GT(summary.value().samples, 10U);
  EXPECT_EQ(summary.value().lost, 0U);
  EXPECT_TRUE(summary.value().command_status.has_value());
  auto source = open_file_source(dir_.file("out.data"));
  ASSERT_TRUE(source.ok()) << describe(source.error());
  std::uint64_t samples = 0;
  for (;;) {
    auto record = source.value()->next();
    ASSERT_TRUE(record.ok());
    if (!record.value()) {
      break;
    }
    samples += std::holds_alternative<Sample>(record.value()->payload) ? 1U : 0U;
  }
  EXPECT_EQ(samples, summary.value().samples);
}

TEST_F(RecorderTest, command_that_cannot_be_run_leaves_no_file) {
  if (!may_record()) {
    GTEST_SKIP() << "perf_event_open(2) may not be used";
  }
  const auto summary = record(options({"/no/such/command"}));
  EXPECT_FALSE(summary.ok());
  EXPECT_FALSE(std::filesystem::exists(dir_.file("out.data")));
}

TEST_F(RecorderTest, file_of_somebody_else_is_left_alone) {
  if (!may_record()) {
    GTEST_SKIP() << "perf_event_open(2) may not be used";
  }
  std::ofstream(dir_.file("out.data")) << "not a recording";
  const auto summary = record(options({"/bin/true"}));
  EXPECT_FALSE(summary.ok());
  std::ifstream kept(dir_.file("out.data"));
  std::string text;
  std::getline(kept, text);
  EXPECT_EQ(text, "not a recording");
}

}  // namespace
}  // namespace memtrace
