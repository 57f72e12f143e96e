#include "observe/kernel_log.h"

#include <gtest/gtest.h>

namespace memtrace {
namespace {

// As 6.18 writes it, and 3.10 after it; shortened.
constexpr std::string_view kLog =
    "<4>[  90.1] hog invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=0\n"
    "<6>[  90.1] memory: usage 20480kB, limit 20480kB, failcnt 25\n"
    "<6>[  90.1] swap: usage 0kB, limit 9007199254740988kB, failcnt 0\n"
    "<6>[  90.1] oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=/,mems_allowed=0,"
    "oom_memcg=/small,task_memcg=/small/below,task=hog,pid=812,uid=0\n"
    "<3>[  90.1] Memory cgroup out of memory: Killed process 812 (hog) total-vm:27000kB\n"
    "<4>[  91.1] hog invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0\n"
    "<6>[  91.1] oom-kill:constraint=CONSTRAINT_NONE,nodemask=(null),task=hog,pid=813,uid=0\n"
    "<3>[  91.1] Out of memory: Killed process 813 (hog) total-vm:27000kB\n"
    "<4>[  92.1] hog invoked oom-killer: gfp_mask=0xd0, order=0, oom_score_adj=0\n"
    "<6>[  92.1] memory: usage 16384kB, limit 16384kB, failcnt 9\n"
    "<3>[  92.1] Memory cgroup out of memory: Kill process 814 (hog) score 900 or sacrifice "
    "child\n";

TEST(KernelLog, a_kill_in_a_cgroup_has_what_the_cgroup_used) {
  const auto kill = find_cgroup_kill(kLog, 812);
  ASSERT_TRUE(kill);
  EXPECT_EQ(kill->usage_bytes, 20480U * 1024);
  EXPECT_EQ(kill->limit_bytes, 20480U * 1024);
  EXPECT_EQ(kill->cgroup, "/small");
}

TEST(KernelLog, old_kernels_do_not_name_the_cgroup) {
  const auto kill = find_cgroup_kill(kLog, 814);
  ASSERT_TRUE(kill);
  EXPECT_EQ(kill->limit_bytes, 16384U * 1024);
  EXPECT_EQ(kill->cgroup, "");
}

TEST(KernelLog, a_kill_for_the_machine_or_of_another_has_none) {
  EXPECT_FALSE(find_cgroup_kill(kLog, 813));
  EXPECT_FALSE(find_cgroup_kill(kLog, 81));
  EXPECT_FALSE(find_cgroup_kill("", 812));
}

TEST(KernelLog, times_since_boot_become_times_of_day) {
  const std::string shown = with_wall_times("<4>[   90.5] a [x] b\nno time\n[] c\n", 1'000'000'000);
  EXPECT_EQ(shown.substr(0, 4), "<4>[");
  EXPECT_NE(shown.find("01:31.500000] a [x] b\nno time\n[] c\n"), std::string::npos) << shown;
}

}  // namespace
}  // namespace memtrace
