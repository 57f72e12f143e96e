// perf reads what memtrace writes, memtrace reads what perf writes, and both count the same.
#include "live/live_test.h"

namespace memtrace::test {
namespace {

class PerfInteropTest : public LiveTest {
 protected:
  void SetUp() override {
    LiveTest::SetUp();
    if (!IsSkipped()) {
      need_perf();
    }
  }

  // Both tools find the same events in a file, and as many samples of each.
  void expect_same_counts(const std::string& file) {
    const EventCounts own = own_counts(file);
    EXPECT_EQ(own, perf_counts(file));
    EXPECT_FALSE(own.empty());
  }
};

constexpr const char* kInteropWork = " -- $PUPPETS/many_kmallocs 200";

TEST_F(PerfInteropTest, perf_script_finds_as_many_samples_of_each_default_event) {
  run_well(std::string("$MEMTRACE record") + kInteropWork);
  expect_same_counts("memtrace.data");
}

TEST_F(PerfInteropTest, perf_script_finds_as_many_samples_of_all_views) {
  run_well(
      "$MEMTRACE record --for kmalloc,slab,pages,kleaks,faults -a -- $PUPPETS/touch_pages 500");
  expect_same_counts("memtrace.data");
}

// One event after the other is enabled: samples of the first come before the last is there.
TEST_F(PerfInteropTest, record_says_as_many_samples_as_its_report_and_perf_script) {
  for (int i = 0; i < 3; ++i) {
    const Outcome recorded =
        run_well("$MEMTRACE record -a --for kmalloc,slab,pages,faults -- $PUPPETS/touch_pages 500");
    std::uint64_t sum = 0;
    for (const auto& [event, samples] : own_counts("memtrace.data")) {
      sum += samples;
    }
    EXPECT_TRUE(recorded.says(std::to_string(sum) + " events, ")) << sum << "\n" << recorded.all();
    const EventCounts by_perf = perf_counts("memtrace.data");
    const Json counted = report("count --by event --top 0");
    EXPECT_EQ(figure_of(counted, "event", "kmem:mm_page_alloc"), by_perf.at("kmem:mm_page_alloc"))
        << "in the time of the recording";
    EXPECT_EQ(own_counts("memtrace.data"), by_perf);
  }
}

TEST_F(PerfInteropTest, perf_report_finds_as_many_samples) {
  run_well(std::string("$MEMTRACE record -e kmem:kmalloc --filter 'bytes_req == 1048'") +
           kInteropWork);
  const Outcome stats = run_well("perf report --stats -i memtrace.data");
  EXPECT_NE(stats.out.find("SAMPLE events:        200"), std::string::npos) << stats.all();
  const Outcome report = run_well("perf report --stdio -g none -n -i memtrace.data");
  EXPECT_NE(report.out.find("200  many_kmallocs"), std::string::npos) << report.all();
}

TEST_F(PerfInteropTest, perf_script_names_functions_and_prints_fields) {
  run_well(std::string("$MEMTRACE record -e kmem:kmalloc --filter 'bytes_req == 1048'") +
           kInteropWork);
  const std::string script = run_well("perf script -i memtrace.data").out;
  for (const char* part :
       {"send_messages", "main", "load_msg", "bytes_req=1048", "kmem:kmalloc:"}) {
    EXPECT_NE(script.find(part), std::string::npos) << part;
  }
}

TEST_F(PerfInteropTest, perf_script_counts_a_pipe_from_memtrace) {
  run_well(std::string("$MEMTRACE record -o - -e kmem:kmalloc,kmem:kfree") + kInteropWork +
           " > saved.pipe");
  const EventCounts own = own_counts("- < saved.pipe");
  EXPECT_EQ(own, perf_counts("- < saved.pipe"));
  EXPECT_GE(own.at("kmem:kmalloc"), 200U);
}

// perf keeps the event formats at the end of its file: what is cut off there is found on this
// machine.
TEST_F(PerfInteropTest, a_cut_file_of_perf_is_read_as_far_as_it_is_whole) {
  run_well("perf record -q -g -e kmem:kmalloc -o whole.data $PUPPETS/many_kmallocs 3000");
  run_well("head -c $(($(stat -c %s whole.data) * 3 / 4)) whole.data > cut.data");
  const Outcome outcome = run_well("$MEMTRACE report kmalloc --by comm -i cut.data");
  EXPECT_NE(outcome.out.find("many_kmallocs  2,"), std::string::npos) << outcome.all();
  EXPECT_NE(outcome.out.find("The file is cut off"), std::string::npos) << outcome.all();
  EXPECT_NE(outcome.out.find("lost its event formats"), std::string::npos) << outcome.all();
}

// Longer than a few rounds of either tool: the formats must be known before the first sample is
// given out, not at the pipe's end.
TEST_F(PerfInteropTest, a_pipe_of_many_rounds_is_understood_from_its_first_sample) {
  const std::string work =
      " -- sh -c 'for i in 1 2 3 4; do $PUPPETS/many_kmallocs 100; sleep 0.4; done'";
  for (const char* tool : {"perf record -q -g", "$MEMTRACE record"}) {
    run_well(std::string(tool) + " -o - -e kmem:kmalloc --filter 'bytes_req == 1048'" + work +
             " > saved.pipe");
    const Outcome outcome =
        run_well("$MEMTRACE report kmalloc -i - --by size --format csv < saved.pipe");
    EXPECT_NE(outcome.out.find("1048,400,"), std::string::npos) << tool << outcome.all();
  }
}

TEST_F(PerfInteropTest, perf_counts_a_compressed_file_and_pipe_from_memtrace) {
  const std::string record = "$MEMTRACE record -e kmem:kmalloc,kmem:kfree -z3 -o ";
  run_well(record + "packed.data" + kInteropWork);
  expect_same_counts("packed.data");
  EXPECT_GE(own_counts("packed.data").at("kmem:kmalloc"), 200U);
  const Outcome stats = run_well("perf report --stats -i packed.data");
  EXPECT_NE(stats.out.find("COMPRESSED events:"), std::string::npos) << stats.all();
  run_well(record + "-" + kInteropWork + " > saved.pipe");
  const EventCounts own = own_counts("- < saved.pipe");
  EXPECT_EQ(own, perf_counts("- < saved.pipe"));
  EXPECT_GE(own.at("kmem:kmalloc"), 200U);
}

TEST_F(PerfInteropTest, a_cut_compressed_file_is_read_as_far_as_it_is_whole) {
  run_well("$MEMTRACE record -e kmem:kmalloc -z -o whole.data -- $PUPPETS/many_kmallocs 20000");
  run_well("head -c $(($(stat -c %s whole.data) * 3 / 4)) whole.data > cut.data");
  const Outcome outcome = run_well("$MEMTRACE report kmalloc --by comm -i cut.data");
  EXPECT_NE(outcome.out.find("many_kmallocs"), std::string::npos) << outcome.all();
  EXPECT_NE(outcome.out.find("cut"), std::string::npos) << outcome.all();
}

// What perf record --threads calls "data" has no samples.
TEST_F(PerfInteropTest, samples_beside_the_file_are_no_empty_recording) {
  run_well("perf record -q --threads -o folder -e page-faults -a -- $PUPPETS/touch_pages 100");
  const Outcome outcome = run("$MEMTRACE report -i folder/data");
  EXPECT_EQ(outcome.status, 1);
  EXPECT_TRUE(outcome.says("folder/data holds no events")) << outcome.all();
  EXPECT_TRUE(outcome.says("record without --threads")) << outcome.all();
}

TEST_F(PerfInteropTest, report_reads_a_pipe_from_record_with_its_names) {
  const Json kmalloc =
      json_of(std::string("$MEMTRACE record -o - -e kmem:kmalloc --filter 'bytes_req == 1048'") +
              kInteropWork + " | $MEMTRACE report kmalloc --format json -i -");
  EXPECT_EQ(sum_with_function(kmalloc, "send_messages"), 200U);
}

// The members of a group that is sampled by its leader have no samples in the file: both make them
// of the counts in the leader's.
TEST_F(PerfInteropTest, hits_of_a_group_are_those_that_perf_script_gives) {
  for (const char* group : {"{kmem:kmalloc,kmem:kfree,kmem:mm_page_alloc}:S",
                            "{page-faults,minor-faults,kmem:mm_page_alloc}:S"}) {
    run_well(std::string("perf record -q -g -c 1 -e '") + group +
             "' -o group.data -- $PUPPETS/touch_pages 300");
    EventCounts by_perf;
    std::istringstream lines(run_well("perf script -F event,period -G -i group.data").out);
    std::uint64_t period = 0;
    for (std::string event; lines >> period >> event;) {
      by_perf[event.substr(0, event.find_last_of(':'))] += period;
    }
    EventCounts own;
    const Json counted = report("count --by event --top 0 -i group.data");
    for (const Json& row : counted.at("tables").at(0).at("rows")) {
      own[row.at("event")] = row.at("count");
    }
    EXPECT_EQ(own, by_perf) << group;
    EXPECT_EQ(own.size(), 3U) << group;
    EXPECT_NE(counted.dump().find("recorded as a group (:S)"), std::string::npos);
    EXPECT_EQ(counted.dump().find("sampled one in N"), std::string::npos);
    // Nothing but the number is known of them.
    EXPECT_NE(run_well("$MEMTRACE report count --by order -i group.data").out.find("no event has"),
              std::string::npos);
  }
}

// "a recording of": how perf made it, and whether it is read as a pipe.
struct PerfRecording {
  const char* name;
  const char* options;

  // For the test's name in ctest, which else has the bytes of the struct.
  friend std::ostream& operator<<(std::ostream& out, const PerfRecording& recording) {
    return out << recording.name;
  }
};

class PerfRecordingTest : public PerfInteropTest,
                          public testing::WithParamInterface<PerfRecording> {};

TEST_P(PerfRecordingTest, is_read_with_as_many_samples_and_named_stacks) {
  run_well(std::string("perf record -q -o perf.data -e kmem:kmalloc,kmem:kfree ") +
           GetParam().options + kInteropWork);
  expect_same_counts("perf.data");
  EXPECT_GE(sum_with_function(report("kmalloc -i perf.data --exclude allocate_slab --top 0"),
                              "send_messages"),
            200U);
}

INSTANTIATE_TEST_SUITE_P(of_perf_record,
                         PerfRecordingTest,
                         testing::Values(PerfRecording{"system_wide", "-a -g"},
                                         PerfRecording{"compressed", "-z -a -g"},
                                         PerfRecording{"frame_pointers", "--call-graph fp"},
                                         PerfRecording{"one_ring_per_thread", "--per-thread -g"},
                                         PerfRecording{"without_build_ids", "-B -g"}),
                         [](const auto& each) { return std::string(each.param.name); });

TEST_F(PerfInteropTest, a_pipe_from_perf_is_read_with_as_many_samples) {
  run_well(std::string("perf record -q -a -g -e kmem:kmalloc,kmem:kfree -o - ") + kInteropWork +
           " > saved.pipe");
  const EventCounts own = own_counts("- < saved.pipe");
  EXPECT_EQ(own, perf_counts("- < saved.pipe"));
  EXPECT_FALSE(own.empty());
}

TEST_F(PerfInteropTest, both_read_perfs_software_events) {
  run_well("perf record -q -g -d -c 1 -e minor-faults -o perf.data -- $PUPPETS/touch_pages 700");
  expect_same_counts("perf.data");
  EXPECT_EQ(sum_at_function(report("faults -i perf.data --user --top 0"), "touch_fresh_pages"),
            700U);
}

}  // namespace
}  // namespace memtrace::test
