#include "views/failure/logged_failures.h"

#include <gtest/gtest.h>

#include "support/event_script.h"

namespace memtrace::logged_failures_test {
namespace {

using namespace memtrace::test;

// Shortened, as Linux 6.x writes it (mm/page_alloc.c, warn_alloc; mm/show_mem.c).
constexpr std::string_view kLog =
    "[  100.500000] my net: page allocation failure: order:3, "
    "mode:0x40a20(GFP_ATOMIC|__GFP_COMP), nodemask=(null),cpuset=/,mems_allowed=0\n"
    "[  100.500001] CPU: 1 PID: 812 Comm: my net Not tainted 6.1.0\n"
    "[  100.500002] Node 0 active_anon:10kB inactive_anon:20kB\n"
    "[  100.500003] Node 0 DMA free:100kB boost:0kB min:44kB low:56kB high:68kB\n"
    "[  100.500004] lowmem_reserve[]: 0 0 0\n"
    "[  100.500005] Node 0 Normal free:16384kB boost:0kB min:2048kB low:56kB high:68kB\n"
    "[  100.500006] Node 0 DMA: 25*4kB (U) 0*8kB 0*16kB 0*32kB = 100kB\n"
    "[  100.500007] Node 0 Normal: 4096*4kB (UME) 0*8kB 0*16kB 0*32kB = 16384kB\n"
    "[  100.500008] Node 0 hugepages_total=0 hugepages_free=0\n";

// RHEL 6 and 7 have no names of flags.
constexpr std::string_view kOldLog =
    "Nov 22 14:03:59 host kernel: java: page allocation failure. order:1, mode:0x20\n";

Cell cell(const Report& report, std::string_view column, std::size_t row = 0) {
  const Table& table = report.tables.front();
  return table.rows.at(row).at(column_index(table, column));
}

TEST(LoggedFailures, a_failure_is_explained_by_its_own_report) {
  const Report report = report_logged_failures(kLog);
  ASSERT_EQ(report.tables.front().rows.size(), 1U);
  EXPECT_EQ(cell(report, "comm"), text("my net"));
  EXPECT_EQ(cell(report, "pid"), number(812));
  EXPECT_EQ(cell(report, "reason"), text("fragmentation"));
  EXPECT_EQ(cell(report, "asked"), number(32768));
  EXPECT_EQ(cell(report, "last"), text("100.500000"));
  EXPECT_EQ(cell(report, "why"),
            text("The kernel had no memory for a block of order 3 (32.0 KiB, "
                 "GFP_ATOMIC|__GFP_COMP). Zone Normal of node 0 has 16.0 MiB free. The "
                 "fragmentation index is 0.875: there is enough memory, in too small pieces."));
  EXPECT_EQ(total(report, "allocations"), 1U);
  const Table& blocks = report.tables.at(1);
  ASSERT_EQ(blocks.rows.size(), 2U);
  EXPECT_EQ(blocks.rows[1][column_index(blocks, "order_0")], number(4096));
}

TEST(LoggedFailures, old_kernels_say_less) {
  const Report report = report_logged_failures(kOldLog);
  ASSERT_EQ(report.tables.front().rows.size(), 1U);
  EXPECT_EQ(cell(report, "comm"), text("java"));
  EXPECT_EQ(cell(report, "reason"), text("not_read"));
  EXPECT_EQ(cell(report, "asked"), number(8192));
  EXPECT_NE(std::get<std::string>(cell(report, "why")).find("GFP flags 0x20"), std::string::npos);
}

TEST(LoggedFailures, kills_are_there_too) {
  const Report report = report_logged_failures(
      "[1.0] hog invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=0\n"
      "[1.1] CPU: 1 PID: 900 Comm: hog Not tainted\n"
      "[1.2] memory: usage 20480kB, limit 20480kB, failcnt 25\n"
      "[1.3] oom-kill:constraint=CONSTRAINT_MEMCG,oom_memcg=/small,task_memcg=/small,task=hog,"
      "pid=901,uid=0\n"
      "[1.4] Memory cgroup out of memory: Killed process 901 (hog) total-vm:27000kB, "
      "anon-rss:20000kB, file-rss:0kB, shmem-rss:0kB, UID:0\n");
  EXPECT_EQ(total(report, "kills"), 1U);
  EXPECT_EQ(cell(report, "reason"), text("memory_cgroup"));
  EXPECT_EQ(cell(report, "limit"), number(20480U * 1024));
  EXPECT_EQ(cell(report, "last"), text("1.4"));
  EXPECT_NE(std::get<std::string>(cell(report, "change")).find("/small over 20.0 MiB"),
            std::string::npos);
}

TEST(LoggedFailures, an_empty_log_has_none) {
  EXPECT_TRUE(report_logged_failures("").tables.front().rows.empty());
}

}  // namespace
}  // namespace memtrace::logged_failures_test
