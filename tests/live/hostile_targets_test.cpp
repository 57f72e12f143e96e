// Programs that are watched and places that are given, made to do harm: memtrace ends in order,
// leaves what is not its own, and takes no more than it may.
#include "live_test.h"

namespace memtrace::test {
namespace {

using HostileTargetsTest = LiveTest;

TEST_F(HostileTargetsTest, device_outlives_a_command_that_cannot_be_run) {
  const Outcome outcome =
      run("mknod device c 1 3 && chmod 640 device && SUDO_UID=65534 SUDO_GID=65534 "
          "$MEMTRACE record -o device -e page-faults -- ./not-there; stat -c '%F %u %a' device");
  EXPECT_EQ(outcome.out, "character special file 0 640\n") << outcome.all();
}

TEST_F(HostileTargetsTest, device_and_pipe_take_a_recording) {
  run_well("mknod device c 1 3; $MEMTRACE record -o device -e page-faults -- true");
  run_well(
      "mkfifo pipe; $MEMTRACE record -o pipe -e page-faults -- true & $MEMTRACE report -i - < "
      "pipe; wait");
}

TEST_F(HostileTargetsTest, library_that_is_cut_while_it_is_unwound_ends_nothing) {
  run_well(
      "cp $PUPPETS/libcut_library_body.so mine.so; $MEMTRACE record --for malloc -- "
      "$PUPPETS/cut_library $PWD/mine.so");
  EXPECT_GE(report("malloc").at("totals").at("count"), 11U);
}

TEST_F(HostileTargetsTest, no_memory_is_a_sentence) {
  for (const std::string limit : {"150000", "250000", "350000", "500000"}) {
    const Outcome outcome =
        run("ulimit -v " + limit +
            "; sh -c 'echo $$; exec $MEMTRACE record --for malloc -- ls > /dev/null'");
    EXPECT_TRUE(outcome.status == 0 || outcome.status == 1) << limit << ": " << outcome.all();
    EXPECT_FALSE(outcome.says("on the way out")) << limit << ": " << outcome.all();
    const std::string own_group = "_" + outcome.out.substr(0, outcome.out.find('\n')) + "/";
    EXPECT_EQ(text_of("/sys/kernel/tracing/uprobe_events").find(own_group), std::string::npos)
        << limit << ": " << own_group;
  }
}

}  // namespace
}  // namespace memtrace::test
