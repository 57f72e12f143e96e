// System calls by raw_syscalls, as on a kernel without an event for each, against those events.
#include "live/live_test.h"

namespace memtrace::test {
namespace {

class RawCallsTest : public LiveTest {
 protected:
  // The calls of one run, recorded both ways.
  void record(const std::string& events) {
    run_well("$MEMTRACE record -o calls.data -e " + events +
             " -- $PUPPETS/map_patterns > puppet.out 2>&1");
  }
};

TEST_F(RawCallsTest, views_show_the_same_by_number_as_by_name) {
  record(
      "syscalls:sys_enter_mmap,syscalls:sys_exit_mmap,syscalls:sys_enter_munmap,"
      "syscalls:sys_exit_munmap,syscalls:sys_enter_mremap,syscalls:sys_exit_mremap");
  const Json named = report("mmap -i calls.data");
  record("raw_syscalls:sys_enter,raw_syscalls:sys_exit");
  const Json raw = report("mmap -i calls.data");
  EXPECT_GT(named.at("totals").at("count").get<std::uint64_t>(), 5U);
  EXPECT_EQ(raw.at("totals"), named.at("totals"));
}

TEST_F(RawCallsTest, overview_counts_them_as_they_were_recorded) {
  need_perf();
  record("raw_syscalls:sys_enter");
  EXPECT_EQ(own_counts("calls.data"), perf_counts("calls.data"));
}

}  // namespace
}  // namespace memtrace::test
