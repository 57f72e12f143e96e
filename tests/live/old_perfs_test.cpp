// Recordings by the perfs of Debian's bullseye (5.10) and trixie (6.12) are read, and hold as many
// samples as that perf's own script says.
#include "live/live_test.h"

namespace memtrace::test {
namespace {

struct OldPerf {
  const char* name;
  const char* suite;
  const char* options;

  friend std::ostream& operator<<(std::ostream& out, const OldPerf& old_perf) {
    return out << old_perf.name;
  }
};

class OldPerfsTest : public LiveTest, public testing::WithParamInterface<OldPerf> {
 protected:
  void SetUp() override {
    LiveTest::SetUp();
    if (IsSkipped()) {
      return;
    }
    const Outcome fetched = run(std::string("sh ") + LIVE_TEST_DATA + "/../perfs/fetch '" +
                                FETCHED_PERFS + "' " + GetParam().suite);
    perf_ = fetched.out.substr(0, fetched.out.find('\n'));
    if (fetched.status != 0) {
      GTEST_SKIP() << perf_;
    }
  }

  // The words go behind "perf script".
  EventCounts old_counts(const std::string& words) {
    EventCounts counts;
    std::istringstream lines(run_well(perf_ + " script -F event -G -i " + words).out);
    std::string event;
    while (lines >> event) {
      ++counts[event.substr(0, event.find_last_of(':'))];
    }
    return counts;
  }

  std::string perf_;
};

std::uint64_t sum_of(const EventCounts& counts) {
  std::uint64_t sum = 0;
  for (const auto& [event, count] : counts) {
    sum += count;
  }
  return sum;
}

constexpr const char* kWork = " -- $PUPPETS/many_kmallocs 200";
constexpr const char* kRecordedEvents = " -e kmem:kmalloc,kmem:kfree,page-faults ";

TEST_P(OldPerfsTest, recording_has_as_many_samples_as_its_own_perf_says) {
  run_well(perf_ + " record -q -o perf.data" + kRecordedEvents + GetParam().options + kWork);
  const EventCounts own = own_counts("perf.data");
  // perf script shows a sample that comes later than its round allows out of order; memtrace
  // counts those that it left out.
  if (const std::uint64_t late = report("-i perf.data").at("caveats").at("late"); late == 0) {
    EXPECT_EQ(own, old_counts("perf.data"));
  } else {
    EXPECT_EQ(sum_of(own) + late, sum_of(old_counts("perf.data")));
  }
  EXPECT_GE(own.at("kmem:kmalloc"), 200U);
}

TEST_P(OldPerfsTest, pipe_has_as_many_samples_as_its_own_perf_says) {
  run_well(perf_ + " record -q -o -" + kRecordedEvents + GetParam().options + kWork +
           " > saved.pipe");
  const EventCounts own = own_counts("- < saved.pipe");
  EXPECT_EQ(own, old_counts("- < saved.pipe"));
  EXPECT_FALSE(own.empty());
}

// The counters' values in the samples of all CPUs, as this perf prints them, added up at their
// last.
TEST_P(OldPerfsTest, group_on_all_cpus_was_hit_as_often_as_its_counters_say) {
  run_well(perf_ + " record -q -o group.data -a -c 1 -e '{page-faults,kmem:kmalloc,kmem:kfree}:S'" +
           kWork);
  const Outcome read = run_well(perf_ +
                                " report -D -i group.data 2>/dev/null | "
                                "sed -n 's/.* id \\([0-9a-f]*\\), value \\([0-9a-f]*\\).*/\\1 "
                                "\\2/p'");
  std::map<std::string, std::uint64_t> by_id;
  std::istringstream lines(read.out);
  std::string value;
  for (std::string id; lines >> id >> value;) {
    by_id[id] = std::max<std::uint64_t>(by_id[id], std::stoull(value, nullptr, 16));
  }
  EventCounts own;
  const Json counted = report("count --by event --top 0 -i group.data");
  for (const Json& row : counted.at("tables").at(0).at("rows")) {
    own[row.at("event")] = row.at("count");
  }
  EXPECT_EQ(sum_of(own), sum_of(by_id)) << counted.dump();
  EXPECT_GE(own.at("kmem:kmalloc"), 200U);
}

INSTANTIATE_TEST_SUITE_P(
    of,
    OldPerfsTest,
    testing::Values(
        OldPerf{"perf_5_10", "bullseye", "-c 1"},
        OldPerf{"perf_5_10_system_wide_stacks", "bullseye", "-a -g -c 1"},
        OldPerf{"perf_5_10_copied_stacks", "bullseye", "--call-graph dwarf,1024 -c 1 -m 2048"},
        OldPerf{"perf_6_12", "trixie", "-c 1"},
        OldPerf{"perf_6_12_system_wide_stacks", "trixie", "-a -g -c 1"},
        OldPerf{"perf_6_12_copied_stacks", "trixie", "--call-graph dwarf,1024 -c 1 -m 2048"},
        OldPerf{"perf_6_12_compressed", "trixie", "-z -a -g -c 1"}),
    [](const auto& each) { return std::string(each.param.name); });

}  // namespace
}  // namespace memtrace::test
