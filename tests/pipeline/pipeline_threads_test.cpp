// A compressed file, through the threads that unpack it, read it ahead and make its stacks, and
// without them: the events are the same. For ThreadSanitizer, too.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "os/system.h"
#include "perf/file_in/file_source.h"
#include "pipeline/pipeline.h"
#include "support/perf_bytes.h"
#include "support/temp_dir.h"

namespace memtrace {
namespace {

constexpr std::uint64_t kSamples = 6'000;  // more than AheadSource reads ahead

// Events as words, with the places of their stacks: the ids of both differ from run to run.
class WordsSink final : public PipelineSink {
 public:
  explicit WordsSink(bool asks_all) : asks_all_(asks_all) {}

  // Set before the first sample.
  const World* world = nullptr;
  std::vector<std::string> words;

  Result<> on_sample(const SampleStep& step) override {
    const Event& event = *step.event;
    std::string text = std::to_string(event.time_ns) + " " + event.type->name;
    if (asks_all_ || event.time_ns % 50 == 0) {
      for (const LocationId id : world->stacks().locations(event.stack.id())) {
        text += " " + std::to_string(world->stacks().location(id).offset);
      }
    }
    words.push_back(std::move(text));
    return kDone;
  }

  Result<> on_loss(const Record& /*record*/, const Lost& /*lost*/) override { return kDone; }

  Result<> on_cut_stacks(const CutStacks& /*cut*/) override { return kDone; }

 private:
  bool asks_all_;
};

class PipelineThreadsTest : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    WriterSetup setup = test::kmalloc_setup();
    setup.zstd_level = 1;
    auto writer = create_file_writer(file_.path(), setup);
    ASSERT_TRUE(writer.ok());
    for (std::uint64_t i = 0; i < kSamples; ++i) {
      ASSERT_TRUE(writer.value()->write(test::kmalloc_sample(1000 + i, 1 + i % 97)).ok());
      if (i % 500 == 499) {
        ASSERT_TRUE(writer.value()->finish_round().ok());
      }
    }
    ASSERT_TRUE(writer.value()->finish(test::kmalloc_end()).ok());
  }

  std::vector<std::string> read(ReadAhead ahead) const {
    auto source = open_file_source(file_.path(), ahead);
    EXPECT_TRUE(source.ok());
    Pipeline pipeline(*source.value(), {});
    WordsSink sink(GetParam());
    sink.world = &pipeline.world();
    EXPECT_TRUE(pipeline.run(sink).ok());
    return sink.words;
  }

  const test::TempFile file_{"pipeline_threads"};
};

TEST_P(PipelineThreadsTest, events_and_stacks_are_those_of_a_reader_without_threads) {
  if (usable_cpu_count() < 2) {
    GTEST_SKIP() << "files are read ahead only where there are two CPUs";
  }
  const auto alone = read(ReadAhead::No);
  ASSERT_EQ(alone.size(), kSamples);
  EXPECT_NE(alone.front().find(' ', alone.front().rfind("kmalloc")), std::string::npos);
  EXPECT_EQ(read(ReadAhead::IfCpus), alone);
}

INSTANTIATE_TEST_SUITE_P(AllStacksAndFew, PipelineThreadsTest, testing::Bool());

}  // namespace
}  // namespace memtrace
