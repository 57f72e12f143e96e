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
    "<6>[  92.1] Task in /old/below killed as a result of limit of /old\n"
    "<6>[  92.1] memory: usage 16384kB, limit 16384kB, failcnt 9\n"
    "<3>[  92.1] Memory cgroup out of memory: Kill process 814 (hog) score 900 or sacrifice "
    "child\n"
    "<4>[  93.1] hog invoked oom-killer: gfp_mask=0xd0, order=0, oom_score_adj=0\n"
    "<6>[  93.1] Task in /old killed as a result of limit of /old\n"
    "<6>[  93.1] memory: usage 8192kB, limit 8192kB, failcnt 9\n"
    "<3>[  93.1] Memory cgroup out of memory: Kill process 815 (hog) score 900 or sacrifice "
    "child\n"
    "<3>[  93.1] Killed process 815 (hog), UID 0, total-vm:27000kB, anon-rss:9kB\n";

TEST(KernelLog, a_kill_in_a_cgroup_has_what_the_cgroup_used) {
  const auto kill = find_cgroup_kill(kLog, 812);
  ASSERT_TRUE(kill);
  EXPECT_EQ(kill->usage_bytes, 20480U * 1024);
  EXPECT_EQ(kill->limit_bytes, 20480U * 1024);
  EXPECT_EQ(kill->cgroup, "/small");
}

TEST(KernelLog, old_kernels_name_the_cgroup_in_other_words) {
  const auto kill = find_cgroup_kill(kLog, 814);
  ASSERT_TRUE(kill);
  EXPECT_EQ(kill->limit_bytes, 16384U * 1024);
  EXPECT_EQ(kill->cgroup, "/old");
}

TEST(KernelLog, a_kill_that_is_announced_first_is_one) {
  const auto kill = find_cgroup_kill(kLog, 815);
  ASSERT_TRUE(kill);
  EXPECT_EQ(kill->limit_bytes, 8192U * 1024);
}

// RHEL 6 is built without CONFIG_PRINTK_TIME.
TEST(KernelLog, a_log_without_times_is_read_as_well) {
  const auto kill = find_cgroup_kill(
      "<4>hog invoked oom-killer: gfp_mask=0xd0, order=0, oom_adj=0, oom_score_adj=0\n"
      "<6>Task in /test killed as a result of limit of /test\n"
      "<6>memory: usage 16384kB, limit 16384kB, failcnt 9\n"
      "<6>memory+swap: usage 17000kB, limit 9007199254740991kB, failcnt 0\n"
      "<3>Memory cgroup out of memory: Kill process 815 (hog) score 900 or sacrifice child\n"
      "<3>Killed process 816, UID 0, (child) total-vm:27000kB, anon-rss:9kB, file-rss:8kB\n",
      816);
  ASSERT_TRUE(kill) << "its parent was chosen, and it was killed";
  EXPECT_EQ(kill->usage_bytes, 16384U * 1024);
  EXPECT_EQ(kill->cgroup, "/test");
}

TEST(KernelLog, a_victim_has_what_the_log_says) {
  constexpr std::string_view kKills =
      "<3>Killed process 816, UID 0, (child) total-vm:27kB, anon-rss:9kB, file-rss:8kB\n"
      "<3>[9.1] Killed process 81 (a) total-vm:7kB, anon-rss:5kB, file-rss:4kB, shmem-rss:3kB\n";
  const auto old = find_victim(kKills, 816);
  ASSERT_TRUE(old);
  EXPECT_EQ(old->size, 27U * 1024);
  EXPECT_EQ(old->anon, 9U * 1024);
  EXPECT_EQ(old->file, 8U * 1024);
  EXPECT_EQ(old->shmem, 0U);
  EXPECT_EQ(find_victim(kKills, 81)->shmem, 3U * 1024);
  EXPECT_FALSE(find_victim(kKills, 8));
  EXPECT_FALSE(find_victim("Killed process 8 (a)\n", 8)) << "it does not say";
}

TEST(KernelLog, a_kill_is_one_that_was_done) {
  EXPECT_TRUE(has_kill(kLog, 813));
  EXPECT_FALSE(has_kill(kLog, 814)) << "only announced";
  EXPECT_FALSE(has_kill(kLog, 81));
  EXPECT_TRUE(has_kill("<3>Killed process 12, UID 0, (demo) total-vm:1kB\n", 12));
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
