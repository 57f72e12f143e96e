// What the doctor says is what happens.
#include "live/live_test.h"

namespace memtrace::test {
namespace {

class DoctorLiveTest : public LiveTest {
 protected:
  static std::map<std::string, std::string> states_in(const Json& doctor) {
    std::map<std::string, std::string> states;
    for (const Json& row : doctor.at("tables").at(1).at("rows")) {
      states[row.at("view")] = row.at("state");
    }
    return states;
  }
};

TEST_F(DoctorLiveTest, what_works_by_the_doctor_can_be_recorded_and_the_rest_cannot) {
  for (const auto& [view, state] : states_in(json_of("$MEMTRACE doctor --json"))) {
    if (view == "count" || view == "calls") {  // of events that the user names
      continue;
    }
    const Outcome outcome = run("$MEMTRACE record --for " + view + " -- true");
    EXPECT_EQ(outcome.status == 0, state != "cannot") << view << ": " << state << "\n"
                                                      << outcome.all();
  }
}

TEST_F(DoctorLiveTest, nobody_is_told_what_root_is_needed_for) {
  run_well("cp $MEMTRACE . && chmod 755 memtrace .");
  const std::string as_nobody = "setpriv --reuid=nobody --regid=nogroup --clear-groups ./memtrace ";
  const Outcome text = run_well(as_nobody + "doctor");
  EXPECT_NE(text.out.find("run memtrace as root"), std::string::npos) << text.all();
  const std::size_t cannot = text.out.find("kmalloc                       cannot");
  ASSERT_NE(cannot, std::string::npos) << text.all();
  EXPECT_NE(text.out.find("run memtrace as root", cannot), std::string::npos) << text.all();
  const auto states = states_in(json_of(as_nobody + "doctor --json"));
  EXPECT_EQ(states.at("kmalloc"), "cannot");
}

// Each capability lets a process do something else: CAP_SYS_ADMIN the uprobe PMU, CAP_DAC_OVERRIDE
// uprobe_events, CAP_PERFMON tracepoints (CAP_DAC_READ_SEARCH finds them).
TEST_F(DoctorLiveTest, what_works_with_a_few_capabilities_is_what_the_doctor_says) {
  run_well("cp $MEMTRACE . && chmod 755 memtrace && chmod 777 .");
  for (const std::string& held : std::vector<std::string>{
           "+perfmon,+dac_read_search", "+sys_admin,+dac_read_search", "+perfmon,+dac_override"}) {
    std::string as_nobody = "setpriv --reuid=nobody --regid=nogroup --clear-groups ";
    for (const char* set : {"inh", "ambient"}) {
      as_nobody += std::string("--") + set + "-caps=-all," + held + " ";
    }
    as_nobody += "--bounding-set=-all," + held + " ./memtrace ";
    const auto states = states_in(json_of(as_nobody + "doctor --json"));
    for (const char* view : {"heap", "kmalloc", "faults"}) {
      const Outcome outcome =
          run("rm -f memtrace.data; " + as_nobody + "record --for " + view + " -- true");
      EXPECT_EQ(outcome.status == 0, states.at(view) != "cannot")
          << held << ", " << view << ": " << states.at(view) << "\n"
          << outcome.all();
    }
  }
}

TEST_F(DoctorLiveTest, without_tracefs_nothing_is_mounted_and_faults_still_work) {
  const std::string hidden =
      "unshare -m sh -c 'umount -a -t tracefs,debugfs; $MEMTRACE doctor --json; "
      "grep -c tracefs /proc/mounts >mounts || true'";
  const Json doctor = json_of(hidden);
  const auto states = states_in(doctor);
  EXPECT_EQ(states.at("kmalloc"), "cannot");
  EXPECT_EQ(states.at("faults"), "in part");
  EXPECT_NE(states.at("leaks"), "cannot");  // by the uprobe PMU
  EXPECT_EQ(run("cat mounts").out, "0\n");
  EXPECT_NE(doctor.dump().find("not mounted"), std::string::npos);
}

// Compared with zcat's reading, and with what the kernel shows for it.
TEST_F(DoctorLiveTest, what_the_kernel_was_built_without_is_said) {
  if (!std::filesystem::exists("/proc/config.gz")) {
    GTEST_SKIP() << "this kernel does not show what it was built with (CONFIG_IKCONFIG_PROC)";
  }
  const std::string doctor = run_well("$MEMTRACE doctor --json").out;
  for (const char* option :
       {"CONFIG_KPROBE_EVENTS", "CONFIG_FTRACE_SYSCALLS", "CONFIG_COMPACTION", "CONFIG_MEMCG"}) {
    const bool is_set =
        run(std::string("zcat /proc/config.gz | grep -q '^") + option + "=y'").status == 0;
    EXPECT_EQ(doctor.find(option) == std::string::npos, is_set) << option << "\n" << doctor;
  }
  const bool has_kprobes = std::filesystem::exists("/sys/kernel/tracing/kprobe_events");
  const Outcome refused = run("$MEMTRACE record --kprobes --for swapin -- true");
  EXPECT_EQ(refused.status == 0, has_kprobes) << refused.all();
  EXPECT_EQ(refused.says("this kernel was built without CONFIG_KPROBE_EVENTS"), !has_kprobes)
      << refused.all();
}

TEST_F(DoctorLiveTest, recording_in_which_nothing_happened_says_so) {
  run_well("$MEMTRACE record --for oom,faults -- true");
  const Outcome outcome = run("$MEMTRACE report oom");
  EXPECT_EQ(outcome.status, 1);
  EXPECT_TRUE(outcome.says("nothing that the view oom shows happened")) << outcome.all();
}

// memtrace's own events that are left out are no loss.
TEST_F(DoctorLiveTest, quiet_recording_of_the_machine_is_not_called_a_part) {
  const Outcome recorded =
      run_well("$MEMTRACE record -a --for oom,kmalloc --call-graph none -- true");
  if (!recorded.says("none lost")) {
    GTEST_SKIP() << "events were lost on a busy machine: " << recorded.all();
  }
  const Outcome outcome = run("$MEMTRACE report oom");
  EXPECT_EQ(outcome.status, 1);
  EXPECT_TRUE(outcome.says("its events were watched and none came: record for longer"))
      << outcome.all();
}

TEST_F(DoctorLiveTest, kills_that_cannot_be_judged_without_stacks_are_told_as_such) {
  run_well(
      "$MEMTRACE record -e signal:signal_generate --call-graph none -- "
      "sh -c 'sleep 5 & kill -9 $!; wait; true'");
  const Outcome outcome = run("$MEMTRACE report oom");
  EXPECT_EQ(outcome.status, 1);
  EXPECT_TRUE(outcome.says("what was recorded does not decide what the view oom shows"))
      << outcome.all();
  EXPECT_TRUE(outcome.says("may come from the OOM killer")) << outcome.all();
}

}  // namespace
}  // namespace memtrace::test
