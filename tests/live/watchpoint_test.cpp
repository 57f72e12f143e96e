// Hardware breakpoints as events, against perf's count of the same.
#include "live/live_test.h"

namespace memtrace::test {
namespace {

class WatchpointTest : public LiveTest {
 protected:
  void SetUp() override {
    LiveTest::SetUp();
    if (IsSkipped()) {
      return;
    }
    const Outcome word = run_well("echo 0x$(nm $PUPPETS/write_word | sed -n 's/ D watched$//p')");
    event_ = "mem:" + word.out.substr(0, word.out.find('\n')) + "/8:w";
    need_perf();
    if (!run("perf stat -e " + event_ + " true").says(event_.substr(0, 4)) ||
        run("perf stat -e " + event_ + " true").says("not supported")) {
      GTEST_SKIP() << "this machine has no hardware breakpoints";
    }
  }

  std::string event_;
};

TEST_F(WatchpointTest, each_write_is_an_event_with_its_stack) {
  run_well("$MEMTRACE record --user -e " + event_ + " -- $PUPPETS/write_word 500");
  const Json count = report("count --by stack");
  EXPECT_EQ(sum_with_function(count, "write_each(long)"), 500U);
  EXPECT_EQ(count.at("caveats").at("lost"), 0U);
  const Outcome perf = run_well("perf stat -x, -e " + event_ + " $PUPPETS/write_word 500");
  EXPECT_TRUE(perf.says("500,,mem:")) << perf.all();
}

TEST_F(WatchpointTest, nothing_is_recorded_of_a_word_that_nobody_writes) {
  const Outcome recorded = run_well("$MEMTRACE record -e " + event_ + " -- $PUPPETS/write_word 0");
  EXPECT_TRUE(recorded.says("memtrace: 0 events")) << recorded.all();
}

}  // namespace
}  // namespace memtrace::test
