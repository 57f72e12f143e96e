// Recordings by the perfs of Debian's bullseye (5.10) and trixie (6.12) are read, and hold as many
// samples as that perf's own script says.
#include "live/live_test.h"

namespace memtrace::test {
namespace {

struct Setting {
  const char* name;
  const char* suite;
  const char* options;

  friend std::ostream& operator<<(std::ostream& out, const Setting& setting) {
    return out << setting.name;
  }
};

class OldPerfsTest : public LiveTest, public testing::WithParamInterface<Setting> {
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
constexpr const char* kEvents = " -e kmem:kmalloc,kmem:kfree,page-faults ";

TEST_P(OldPerfsTest, recording_has_as_many_samples_as_its_own_perf_says) {
  run_well(perf_ + " record -q -o perf.data" + kEvents + GetParam().options + kWork);
  const EventCounts own = own_counts("perf.data");
  // perf script shows a sample that comes later than its round allows out of order; memtrace tells
  // how many it left out.
  if (const std::uint64_t late = report("-i perf.data").at("caveats").at("late"); late == 0) {
    EXPECT_EQ(own, old_counts("perf.data"));
  } else {
    EXPECT_EQ(sum_of(own) + late, sum_of(old_counts("perf.data")));
  }
  EXPECT_GE(own.at("kmem:kmalloc"), 200U);
}

TEST_P(OldPerfsTest, pipe_has_as_many_samples_as_its_own_perf_says) {
  run_well(perf_ + " record -q -o -" + kEvents + GetParam().options + kWork + " > saved.pipe");
  const EventCounts own = own_counts("- < saved.pipe");
  EXPECT_EQ(own, old_counts("- < saved.pipe"));
  EXPECT_FALSE(own.empty());
}

INSTANTIATE_TEST_SUITE_P(
    of,
    OldPerfsTest,
    testing::Values(
        Setting{"perf_5_10", "bullseye", "-c 1"},
        Setting{"perf_5_10_system_wide_stacks", "bullseye", "-a -g -c 1"},
        Setting{"perf_5_10_copied_stacks", "bullseye", "--call-graph dwarf,1024 -c 1 -m 2048"},
        Setting{"perf_6_12", "trixie", "-c 1"},
        Setting{"perf_6_12_system_wide_stacks", "trixie", "-a -g -c 1"},
        Setting{"perf_6_12_copied_stacks", "trixie", "--call-graph dwarf,1024 -c 1 -m 2048"},
        Setting{"perf_6_12_compressed", "trixie", "-z -a -g -c 1"}),
    [](const auto& each) { return std::string(each.param.name); });

}  // namespace
}  // namespace memtrace::test
