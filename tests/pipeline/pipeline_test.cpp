// The way of each kind of record from a source to a sink, over a recording made by hand.
#include "pipeline/pipeline.h"

#include <gtest/gtest.h>

#include "support/fake_source.h"

namespace memtrace {
namespace {

using test::FakeSource;

// Keeps what it was given, as words.
class ListSink final : public PipelineSink {
 public:
  Result<bool> admit(const Record& record) override {
    return record.stamp.time_ns < refuse_from_ns;
  }

  Result<> on_sample(const SampleStep& step) override {
    steps.push_back(step.event != nullptr ? "event" : "malformed");
    chains.emplace_back(step.callchain.begin(), step.callchain.end());
    if (step.event != nullptr) {
      events.push_back(*step.event);
    }
    return fails ? Result<>(Error{"disk"}) : Result<>(kDone);
  }

  Result<> on_tick() override {
    steps.emplace_back("tick");
    return kDone;
  }

  Result<> on_loss(const Record& /*record*/, const Lost& lost) override {
    steps.push_back("lost " + std::to_string(lost.count));
    return kDone;
  }

  Result<> on_cut_stacks(const CutStacks& cut) override {
    steps.push_back("cut " + std::to_string(cut.count));
    return kDone;
  }

  Result<> on_record(const Record& /*record*/) override {
    steps.emplace_back("record");
    return kDone;
  }

  std::uint64_t refuse_from_ns = ~0U;
  bool fails = false;
  std::vector<std::string> steps;
  std::vector<std::vector<std::uint64_t>> chains;
  std::vector<Event> events;
};

class PipelineTest : public testing::Test {
 protected:
  void run(const PipelineSetup& setup = {}) {
    pipeline_.emplace(source_, setup);
    const auto done = pipeline_->run(sink_);
    EXPECT_TRUE(done.ok());
  }

  const ProcessTable& processes() const { return pipeline_->world().processes(); }

  FakeSource source_;
  ListSink sink_;
  std::optional<Pipeline> pipeline_;
};

using Steps = std::vector<std::string>;

TEST_F(PipelineTest, each_kind_of_record_is_a_step_of_its_own_in_the_sources_order) {
  source_.add(1, Comm{.pid = 100, .tid = 100, .name = "sh"});
  source_.add_kmalloc(2, {});
  source_.add(3, Lost{.count = 7});
  source_.add(4, CutStacks{.count = 9});
  source_.add(5, Tick{});
  source_.add(6, Exit{.pid = 100, .tid = 100});
  run();
  EXPECT_EQ(sink_.steps, (Steps{"record", "event", "lost 7", "cut 9", "tick", "record"}));
}

TEST_F(PipelineTest, sample_has_changed_the_world_when_the_sink_gets_it) {
  source_.add(1, Comm{.pid = 100, .tid = 100, .name = "sh"});
  source_.add_kmalloc(2, {.bytes = 192, .chain = {kContextUser, 0x1000}});
  run();
  ASSERT_EQ(sink_.events.size(), 1U);
  const Event& event = sink_.events.front();
  EXPECT_EQ(pipeline_->world().strings().at(event.comm), "sh");
  EXPECT_NE(event.stack, StackId());
  const auto* alloc = std::get_if<SlabAlloc>(&event.payload);
  ASSERT_NE(alloc, nullptr);
  EXPECT_EQ(alloc->bytes_req, 192U);
  EXPECT_EQ(sink_.chains.front(), (std::vector<std::uint64_t>{kContextUser, 0x1000}));
}

TEST_F(PipelineTest, sample_that_cannot_be_decoded_is_a_step_without_an_event) {
  source_.add(1, Sample{.event = 99, .pid = 100, .tid = 100});
  run();
  EXPECT_EQ(sink_.steps, Steps{"malformed"}) << "a recorder keeps its bytes all the same";
  EXPECT_EQ(pipeline_->decoder().malformed(), 1U);
}

TEST_F(PipelineTest, record_that_the_sink_refuses_leaves_the_world_as_it_was) {
  source_.add(1, Comm{.pid = 100, .tid = 100, .name = "before"});
  source_.add(5, Comm{.pid = 100, .tid = 100, .name = "after"});
  source_.add_kmalloc(6, {});
  sink_.refuse_from_ns = 5;
  run();
  EXPECT_EQ(sink_.steps, Steps{"record"});
  EXPECT_EQ(pipeline_->world().strings().at(processes().comm(100, 100)), "before");
}

TEST_F(PipelineTest, error_of_the_sink_ends_the_run) {
  source_.add_kmalloc(1, {});
  source_.add_kmalloc(2, {});
  sink_.fails = true;
  Pipeline pipeline(source_, {});
  const auto done = pipeline.run(sink_);
  ASSERT_FALSE(done.ok());
  EXPECT_EQ(done.error().message, "disk");
  EXPECT_EQ(sink_.steps.size(), 1U);
}

TEST_F(PipelineTest, identities_of_a_recording_are_known_to_the_event_of_their_time) {
  source_.edit().identities = "cgroup 1 /x.service\ntask 5 100 1000 1\n";
  source_.add_kmalloc(4, {});
  source_.add_kmalloc(5, {});
  run();
  ASSERT_EQ(sink_.events.size(), 2U);
  const IdentityTable& known = pipeline_->world().identities();
  EXPECT_FALSE(known.knows_user(sink_.events[0].identity));
  EXPECT_TRUE(known.knows_user(sink_.events[1].identity));
  EXPECT_TRUE(pipeline_->has_identities());
}

TEST_F(PipelineTest, without_a_log_no_identity_is_known) {
  source_.add_kmalloc(4, {});
  run();
  EXPECT_FALSE(pipeline_->has_identities());
  EXPECT_EQ(pipeline_->identity_log(), nullptr);
}

TEST_F(PipelineTest, probe_of_all_tasks_gives_steps_for_the_watched_processes_alone) {
  const std::vector<OpenedEvent> probes{{.for_all_tasks = true}};
  source_.add(1, Fork{.pid = 100, .parent_pid = 1, .tid = 100, .parent_tid = 1});
  source_.add_kmalloc(2, {.pid = 200});
  source_.add_kmalloc(3, {.pid = 100});
  run({.probes = &probes});
  EXPECT_EQ(sink_.steps, (Steps{"record", "event"}));
  ASSERT_EQ(sink_.events.size(), 1U);
  EXPECT_EQ(sink_.events.front().pid, 100U);
}

TEST_F(PipelineTest, events_that_the_kernel_took_away_are_noticed_when_some_processes_are_watched) {
  source_.add(1, Comm{.pid = 100, .tid = 100, .exec = true, .name = "sudo"});
  source_.add(2, Exit{.pid = 100, .tid = 100});
  run({.live = true, .whole_machine = false});
  EXPECT_EQ(pipeline_->taken_events().notes().size(), 1U);
}

TEST_F(PipelineTest, events_of_whole_cpus_are_never_taken_away) {
  source_.add(1, Comm{.pid = 100, .tid = 100, .exec = true, .name = "sudo"});
  source_.add(2, Exit{.pid = 100, .tid = 100});
  run({.live = true, .whole_machine = true});
  EXPECT_TRUE(pipeline_->taken_events().notes().empty());
}

}  // namespace
}  // namespace memtrace
