// Hosts that forbid what memtrace would like best: each way ends in a substitute or in one sentence
// that says what would help.
#include <fstream>

#include "live/live_test.h"

namespace memtrace::test {
namespace {

constexpr const char* kParanoid = "/proc/sys/kernel/perf_event_paranoid";

// Everybody's setting: put back whatever happens. It is for those without privilege only.
class ParanoidLevel {
 public:
  explicit ParanoidLevel(const std::string& level) : before_(text_of(kParanoid)) {
    std::ofstream(kParanoid) << level;
  }

  ParanoidLevel(const ParanoidLevel&) = delete;
  ParanoidLevel& operator=(const ParanoidLevel&) = delete;

  ~ParanoidLevel() { std::ofstream(kParanoid) << before_; }

 private:
  std::string before_;
};

class LockedDownTest : public LiveTest {
 protected:
  void SetUp() override {
    LiveTest::SetUp();
    if (!IsSkipped()) {
      run_well(
          "cp $MEMTRACE $PUPPETS/touch_pages $PUPPETS/heap_patterns $PUPPETS/many_kmallocs "
          "$PUPPETS/refuse_perf . && chmod 755 ./* && mkdir -m 777 work");
    }
  }

  Outcome run_as_nobody(const std::string& words) {
    return run("cd work && setpriv --reuid=nobody --regid=nogroup --clear-groups " + words);
  }

  // One error, one hint, and nothing of what memtrace would have done next.
  static void expect_one_sentence(const Outcome& outcome, const std::string& remedy) {
    EXPECT_EQ(outcome.status, 1) << outcome.all();
    EXPECT_TRUE(outcome.says("hint: ")) << outcome.all();
    EXPECT_TRUE(outcome.says(remedy)) << outcome.all();
    EXPECT_EQ(std::ranges::count(outcome.err, '\n'), 2) << outcome.all();
  }

  static Outcome unchanged_probes_around(const std::function<Outcome()>& act) {
    const std::string before = text_of("/sys/kernel/tracing/uprobe_events");
    Outcome outcome = act();
    EXPECT_EQ(text_of("/sys/kernel/tracing/uprobe_events"), before);
    return outcome;
  }
};

// Debian's kernels know 3 and stricter ones 4, at which nobody may open anything; others take all
// above 2 for 2.
TEST_F(LockedDownTest, nobody_at_each_paranoid_level_has_faults_or_a_sentence) {
  for (const char* level : {"2", "3", "4"}) {
    const ParanoidLevel set(level);
    const Outcome outcome =
        run_as_nobody("../memtrace record --for faults -- ../touch_pages 500 >/dev/null");
    if (outcome.status != 0) {
      expect_one_sentence(outcome, "kernel.perf_event_paranoid is " + std::string(level));
      continue;
    }
    EXPECT_TRUE(outcome.says("only user mode was watched")) << outcome.all();
    const Json faults = report("faults --user --top 0 -i work/memtrace.data");
    EXPECT_EQ(sum_at_function(faults, "touch_fresh_pages"), 500U) << level;
    expect_one_sentence(run_as_nobody("../memtrace record --for kmalloc -- true"),
                        "run memtrace as root");
  }
}

TEST_F(LockedDownTest, nobody_is_told_what_heap_views_need) {
  expect_one_sentence(run_as_nobody("../memtrace record --for leaks -- ../heap_patterns malloc"),
                      "run memtrace as root");
}

TEST_F(LockedDownTest, root_without_capabilities_is_told_which_are_missing) {
  const std::string bare = "setpriv --bounding-set -all --inh-caps -all -- ";
  if (run(bare + "true").status != 0) {
    GTEST_SKIP() << "setpriv cannot drop capabilities here";
  }
  expect_one_sentence(run(bare + "./memtrace record --for kmalloc -- ./many_kmallocs 10"),
                      "CAP_PERFMON");
  const Outcome faults = run(bare + "./memtrace record -e page-faults -- ./touch_pages 300");
  EXPECT_EQ(faults.status, 0) << faults.all();
  EXPECT_TRUE(faults.says("only user mode was watched")) << faults.all();
  const Json doctor = json_of(bare + "./memtrace doctor --json");
  EXPECT_NE(doctor.dump().find("none that matter"), std::string::npos);
}

TEST_F(LockedDownTest, refusal_by_seccomp_is_one_sentence_for_each_errno) {
  for (const std::string name : {"EPERM", "EACCES", "ENOSYS"}) {
    const std::string refused = "./refuse_perf " + name + " ./memtrace ";
    const std::string remedy = name == "ENOSYS" ? "CONFIG_PERF_EVENTS" : "seccomp";
    for (const char* words : {"record -e page-faults -- true",
                              "record --for kmalloc -- true",
                              "record --for leaks -- ./heap_patterns malloc",
                              "faults -- true"}) {
      const Outcome outcome = unchanged_probes_around([&] { return run(refused + words); });
      expect_one_sentence(outcome, remedy);
    }
    const Outcome doctor = run_well(refused + "doctor faults");
    EXPECT_NE(doctor.out.find("perf_event_open               perf_event_open("), std::string::npos)
        << doctor.all();
    const std::size_t cannot = doctor.out.find("faults                        cannot");
    ASSERT_NE(cannot, std::string::npos) << doctor.all();
    EXPECT_NE(doctor.out.find(remedy, cannot), std::string::npos)
        << "with its remedy" << doctor.all();
  }
}

// In a mount namespace of its own: a tracefs that may be read and not written.
TEST_F(LockedDownTest, heap_is_seen_through_the_pmu_where_tracefs_cannot_be_written) {
  const std::string read_only =
      "unshare -m sh -c 'mount -o remount,bind,ro /sys/kernel/tracing && exec ";
  if (run(read_only + "true'").status != 0 ||
      !std::filesystem::exists("/sys/bus/event_source/devices/uprobe/type")) {
    GTEST_SKIP() << "no mount namespaces here, or no uprobe PMU";
  }
  const Outcome recorded = run_well(
      read_only + "./memtrace record --for leaks,malloc,kmalloc -- ./heap_patterns malloc'");
  EXPECT_TRUE(recorded.says("by the kernel's uprobe PMU")) << recorded.all();
  const Json leaks = report("leaks --top 0");
  EXPECT_EQ(sum_with_function(leaks, "(anonymous namespace)::leak_by_malloc", "bytes"), 1045U);
  EXPECT_GT(report("kmalloc").at("totals").at("count"), 0U) << "tracepoints need no writing";
}

// Kernels before 4.1 and RHEL 7 have it there alone.
TEST_F(LockedDownTest, tracing_directory_below_debugfs_will_do) {
  const std::string by_debugfs =
      "unshare -m sh -c 'umount -a -t tracefs; mount -t tmpfs none /sys/kernel && "
      "mkdir /sys/kernel/debug && mount -t debugfs none /sys/kernel/debug && "
      "test -e /sys/kernel/debug/tracing/events && exec ";
  if (run(by_debugfs + "true'").status != 0) {
    GTEST_SKIP() << "this kernel has no tracing directory below debugfs";
  }
  run_well(by_debugfs + "./memtrace record --for kmalloc,leaks -- ./many_kmallocs 30'");
  EXPECT_EQ(sum_with_function(report("kmalloc --exclude allocate_slab"), "send_messages"), 30U);
  const Json doctor = json_of(by_debugfs + "./memtrace doctor --json'");
  EXPECT_NE(doctor.dump().find("/sys/kernel/debug/tracing, "), std::string::npos) << doctor.dump();
}

}  // namespace
}  // namespace memtrace::test
