#include "views/oom/logged_kills.h"

#include "support/event_script.h"

namespace memtrace::test {
namespace {

// Shortened, as journalctl -o short-iso prints what 6.18 writes.
constexpr std::string_view kCgroup =
    "2026-11-22T14:03:59+0100 web kernel: nginx: worker invoked oom-killer: "
    "gfp_mask=0xcc0(GFP_KERNEL), order=0\n"
    "2026-11-22T14:03:59+0100 web kernel: CPU: 1 PID: 700 Comm: nginx: worker Not tainted\n"
    "2026-11-22T14:03:59+0100 web kernel: memory: usage 20480kB, limit 20480kB, failcnt 25\n"
    "2026-11-22T14:03:59+0100 web kernel: swap: usage 0kB, limit 9007199254740988kB, failcnt 0\n"
    "2026-11-22T14:03:59+0100 web kernel: oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),"
    "cpuset=/,mems_allowed=0,oom_memcg=/web.slice,task_memcg=/web.slice/nginx.service,task=php,"
    "pid=812,uid=0\n"
    "2026-11-22T14:03:59+0100 web kernel: Memory cgroup out of memory: Killed process 812 (php) "
    "total-vm:54812kB, anon-rss:16256kB, file-rss:2380kB, shmem-rss:4kB, UID:0 pgtables:68kB\n";

Cell at(const Report& report, std::size_t row, std::string_view column) {
  const Table& table = report.tables.at(0);
  return table.rows.at(row).at(column_index(table, column));
}

Report report_of(std::string_view log, const ViewOptions& options = {}) {
  const std::vector<OomKill> kills = kills_in_log(log);
  auto report = report_logged_kills(kills, options);
  EXPECT_TRUE(report.ok());
  return report.take();
}

TEST(LoggedKills, kill_in_a_cgroup_has_all_that_the_log_says) {
  const Report report = report_of(kCgroup);
  EXPECT_EQ(total(report, "kills"), 1U);
  EXPECT_EQ(at(report, 0, "last"), text("2026-11-22T14:03:59+0100"));
  EXPECT_EQ(at(report, 0, "cgroup"), text("/web.slice/nginx.service"));
  EXPECT_EQ(at(report, 0, "for"), text("cgroup"));
  EXPECT_EQ(at(report, 0, "victim"), text("php"));
  EXPECT_EQ(at(report, 0, "trigger"), text("nginx: worker"));
  EXPECT_EQ(at(report, 0, "anon"), number(16256U * 1024));
  EXPECT_EQ(at(report, 0, "shmem"), number(4U * 1024));
  EXPECT_EQ(at(report, 0, "cgroup_limit"), number(20480U * 1024));
  EXPECT_EQ(at(report, 0, "victim_pid"), number(812));
}

TEST(LoggedKills, kills_that_are_alike_are_one_row) {
  const std::string twice = std::string(kCgroup) + std::string(kCgroup);
  EXPECT_EQ(at(report_of(twice), 0, "kills"), number(2));
  EXPECT_EQ(report_of(twice, {.by = {"kill"}}).tables.at(0).rows.size(), 2U);
  const auto unknown = report_logged_kills({}, {.by = {"zzz"}});
  ASSERT_FALSE(unknown.ok());
  EXPECT_EQ(unknown.error().kind, ErrorKind::Usage);
}

// 3.10 of RHEL 7, in /var/log/messages; 2.6.32 of RHEL 6, from dmesg.
TEST(LoggedKills, older_kernels_say_the_cgroup_and_the_victim_in_other_words) {
  const Report report = report_of(
      "Nov 22 14:03:59 web kernel: java invoked oom-killer: gfp_mask=0xd0, order=0\n"
      "Nov 22 14:03:59 web kernel: CPU: 0 PID: 1234 Comm: java Not tainted 3.10.0\n"
      "Nov 22 14:03:59 web kernel: Task in /app killed as a result of limit of /app\n"
      "Nov 22 14:03:59 web kernel: memory: usage 16384kB, limit 16384kB, failcnt 9\n"
      "Nov 22 14:03:59 web kernel: Memory cgroup out of memory: Kill process 1235 (java) score 900 "
      "or sacrifice child\n"
      "Nov 22 14:03:59 web kernel: Killed process 1235 (java) total-vm:27000kB, anon-rss:16000kB, "
      "file-rss:10kB\n"
      "[ 9017.1] java invoked oom-killer: gfp_mask=0x280da, order=0, oom_adj=0\n"
      "[ 9017.2] Out of memory: Kill process 2592 (test) score 900 or sacrifice child\n"
      "[ 9017.3] Killed process 2592, UID 500, (test) total-vm:7000kB, anon-rss:6000kB, "
      "file-rss:1kB\n");
  ASSERT_EQ(report.tables.at(0).rows.size(), 2U);
  EXPECT_EQ(at(report, 0, "last"), text("9017.3"));
  EXPECT_EQ(at(report, 0, "for"), text("machine"));
  EXPECT_EQ(at(report, 0, "victim"), text("test"));
  EXPECT_EQ(at(report, 0, "anon"), number(6000U * 1024));
  EXPECT_EQ(at(report, 0, "cgroup"), Cell());
  EXPECT_EQ(at(report, 1, "last"), text("Nov 22 14:03:59"));
  EXPECT_EQ(at(report, 1, "for"), text("cgroup"));
  EXPECT_EQ(at(report, 1, "cgroup"), text("/app"));
  EXPECT_EQ(at(report, 1, "cgroup_limit"), number(16384U * 1024));
}

TEST(LoggedKills, text_that_is_cut_anywhere_is_read_as_far_as_it_goes) {
  for (std::size_t bytes = 0; bytes < kCgroup.size(); ++bytes) {
    EXPECT_LE(kills_in_log(kCgroup.substr(0, bytes)).size(), 1U);
  }
  EXPECT_TRUE(kills_in_log("Killed process\nKilled process x (\nKilled process 12\n").empty());
}

}  // namespace
}  // namespace memtrace::test
