// Memory pressure for real: in a small cgroup of the test's own, against the kernel's own counters.
#include "live/pressure_live_test.h"

namespace memtrace::test {
namespace {

TEST_F(PressureTest, cgroup_reclaim_of_the_page_cache_agrees_with_vmstat) {
  const MemoryGroup group(dir_.path(), 16 * kMebibyte);
  if (!group.usable()) {
    GTEST_SKIP() << "no memory cgroup can be made";
  }
  const Grown grown = record("-a --for vmscan,reclaim -- " + group.enter() +
                             "$PUPPETS/press_memory file data 16384");
  const Json vmscan = report("vmscan");
  EXPECT_EQ(lost_in(vmscan), 0U);
  // pgsteal_direct and pgscan_direct leave cgroups out. These count all but what DAMON reclaims,
  // which is of the kind "other" here.
  const std::uint64_t stolen = grown.by("pgsteal_file") + grown.by("pgsteal_anon");
  EXPECT_GE(stolen, 10000U);  // 64 MiB through 16
  expect_near(sum_of_kinds(vmscan, "reclaimed"), stolen, 0.98);
  expect_near(
      sum_of_kinds(vmscan, "scanned"), grown.by("pgscan_file") + grown.by("pgscan_anon"), 0.90);
  const Json hog = row_of(vmscan, 0, "comm", "press_memory");
  ASSERT_FALSE(hog.is_null()) << vmscan.dump(1);
  EXPECT_GE(hog.at("cgroup").get<std::uint64_t>(), 10000U);
  EXPECT_GE(hog.at("inactive").get<std::uint64_t>(), 10000U);
  EXPECT_GT(hog.at("time_ns").get<std::uint64_t>(), 0U);
  EXPECT_LT(hog.at("time_ns").get<std::uint64_t>(), 20'000'000'000U);

  const Json reclaims = traced_report("reclaim");
  const Json sum = row_of(reclaims, 0, "comm", "press_memory");
  ASSERT_FALSE(sum.is_null());
  EXPECT_EQ(sum.at("pages"), hog.at("cgroup"));
  EXPECT_EQ(sum.at("count"), hog.at("reclaims"));
  std::uint64_t listed = 0;
  for (const Json& each : reclaims.at("lines")) {
    listed += each.at("comm") == "press_memory" ? each.at("pages").get<std::uint64_t>() : 0;
    EXPECT_GT(each.at("latency_ns").get<std::uint64_t>(), 0U);
  }
  EXPECT_EQ(listed, sum.at("pages").get<std::uint64_t>());
}

TEST_F(PressureTest, slab_shrinkers_are_named_and_timed) {
  const MemoryGroup group(dir_.path(), 64 * kMebibyte);
  if (!group.usable()) {
    GTEST_SKIP() << "no memory cgroup can be made";
  }
  record("-a --for vmscan -- sh -c '" + group.enter() + "$PUPPETS/press_memory names 50000; " +
         group.empty_command() + "'");
  const Json vmscan = report("vmscan");
  EXPECT_EQ(lost_in(vmscan), 0U);
  const Json shrinker = row_of(vmscan, 2, "shrinker", "super_cache_scan");
  ASSERT_FALSE(shrinker.is_null()) << vmscan.dump(1);
  EXPECT_GE(shrinker.at("objects").get<std::uint64_t>(), 40000U);
  EXPECT_GT(shrinker.at("time_ns").get<std::uint64_t>(), 0U);
  EXPECT_GE(total_of(vmscan, "memcg_ns"), shrinker.at("max_ns").get<std::uint64_t>());
}

TEST_F(PressureTest, pages_out_to_swap_are_counted_for_who_reclaims) {
  const SwapFile swap(dir_.path() + "/swap", 96);
  const MemoryGroup group(dir_.path(), 16 * kMebibyte);
  if (!swap.usable() || !group.usable()) {
    GTEST_SKIP() << "no swap file or no memory cgroup can be made here";
  }
  const Grown grown =
      record("-a --for writeback,vmscan -- " + group.enter() + "$PUPPETS/press_memory anon 12288");
  EXPECT_GE(grown.by("pswpout"), 8000U);
  const Json writeback = report("writeback");
  EXPECT_EQ(lost_in(writeback), 0U);
  const Json hog = row_of(writeback, 0, "comm", "press_memory");
  ASSERT_FALSE(hog.is_null()) << writeback.dump(1);
  expect_near(hog.at("swap_pageouts").get<std::uint64_t>(), grown.by("pswpout"), 0.95);
  EXPECT_EQ(total_of(report("vmscan"), "written"),
            total_of(writeback, "swap_pageouts") + total_of(writeback, "file_pageouts"));
}

TEST_F(PressureTest, dirtied_and_written_pages_agree_with_vmstat) {
  const Grown grown =
      record("-a --for writeback -- sh -c '$PUPPETS/press_memory file data 4096; sync'");
  const Json writeback = report("writeback");
  EXPECT_EQ(lost_in(writeback), 0U);
  const Json hog = row_of(writeback, 0, "comm", "press_memory");
  ASSERT_FALSE(hog.is_null()) << writeback.dump(1);
  EXPECT_GE(hog.at("dirtied").get<std::uint64_t>(), 4096U);
  EXPECT_LE(hog.at("dirtied").get<std::uint64_t>(), 4200U);
  EXPECT_GE(total_of(writeback, "written"), 4096U);
  // Written is what was begun, nr_written what the disk has: a page may be begun twice.
  EXPECT_LE(total_of(writeback, "written"), grown.by("nr_written") * 102 / 100 + 100);
  EXPECT_LE(total_of(writeback, "dirtied"), grown.by("nr_dirtied"));
}

TEST_F(PressureTest, writers_that_must_wait_are_told) {
  const Setting background_ratio("/proc/sys/vm/dirty_background_ratio");
  const Setting ratio("/proc/sys/vm/dirty_ratio");
  const Setting background_bytes("/proc/sys/vm/dirty_background_bytes");
  const Setting bytes("/proc/sys/vm/dirty_bytes");
  if (text_of("/proc/sys/vm/dirty_bytes") != "0\n") {
    GTEST_SKIP() << "vm.dirty_bytes is in use here";
  }
  background_bytes.set(2 * kMebibyte);
  bytes.set(4 * kMebibyte);
  Json hog;
  // A writer on a busy processor may be slower than the disk, and is then not made to wait.
  for (int attempt = 0; attempt < 5 && (hog.is_null() || hog.at("throttles") == 0); ++attempt) {
    record("-a --for writeback -- $PUPPETS/press_memory file data 16384");
    hog = row_of(report("writeback"), 0, "comm", "press_memory");
  }
  ASSERT_FALSE(hog.is_null());
  EXPECT_GE(hog.at("throttles").get<std::uint64_t>(), 1U);
  EXPECT_GE(hog.at("paused_ns").get<std::uint64_t>(), 1'000'000U);
}

TEST_F(PressureTest, compaction_by_hand_agrees_with_vmstat) {
  expect_some_try([this](Try& tried) {
    const Grown grown = record(
        "-a --for compaction -e migrate:mm_migrate_pages -e migrate:mm_migrate_pages_start -- sh "
        "-c '$PUPPETS/press_memory holes 16384 > ready & "
        "until grep -q ready ready; do kill -0 $! || exit 1; sleep 0.05; done; echo 1 > "
        "/proc/sys/vm/compact_memory; kill $!'");
    const Json compaction = traced_report("compaction --by order");
    if (!tried.expect_none_lost(compaction)) {
      return;
    }
    EXPECT_GT(grown.by("pgmigrate_success"), 0U);
    const Json by_hand = row_of(compaction, 0, "order", nullptr);
    ASSERT_FALSE(by_hand.is_null()) << compaction.dump(1);
    EXPECT_GT(by_hand.at("time_ns").get<std::uint64_t>(), 0U);
    const std::uint64_t moved = grown.by("pgmigrate_success");
    tried.expect_equal(total_of(compaction, "migrated"), moved, "compaction: migrated");
    const Json numa = report("numa");
    tried.expect_equal(total_of(numa, "migrated"), moved, "numa: migrated");
    tried.expect_equal(total_of(numa, "failed"), grown.by("pgmigrate_fail"), "numa: failed");
    EXPECT_GT(total_of(numa, "time_ns"), 0U);
    EXPECT_LE(total_of(numa, "time_ns"), total_of(compaction, "time_ns"));
    const Json& lines = compaction.at("lines");
    EXPECT_EQ(std::ranges::count_if(
                  lines, [](const Json& line) { return line.at("what") == "compaction"; }),
              total_of(compaction, "count"));
  });
}

TEST_F(PressureTest, huge_pages_that_a_program_collapses_are_counted) {
  const Outcome tried = run("$PUPPETS/press_memory collapse 1");
  if (tried.status != 0) {
    GTEST_SKIP() << "no MADV_COLLAPSE here: " << tried.err;
  }
  record("--for compaction -- $PUPPETS/press_memory collapse 7");
  const Json compaction = report("compaction");
  EXPECT_EQ(total_of(compaction, "collapsed"), 7U);
  EXPECT_EQ(total_of(compaction, "not_collapsed"), 0U);
}

TEST_F(PressureTest, kill_in_a_cgroup_is_told_with_its_victim_and_trigger) {
  const MemoryGroup group(dir_.path(), 16 * kMebibyte);
  group.forbid_swap();
  if (!group.usable()) {
    GTEST_SKIP() << "no memory cgroup can be made";
  }
  const Outcome outcome = run("$MEMTRACE record -a --for oom,reclaim -- " + group.enter() +
                              "sh -c 'sleep 0.3; exec $PUPPETS/press_memory anon 12288'");
  EXPECT_EQ(outcome.status, 128 + 9) << outcome.all();
  // The group's own counter: there may be other kills on the machine at the same time.
  EXPECT_EQ(group.kills(), 1U);
  const Json oom = report("oom");
  EXPECT_GE(total_of(oom, "kills"), 1U);
  const Json kill = row_of(oom, 1, "victim", "press_memory");
  ASSERT_FALSE(kill.is_null()) << oom.dump(1);
  EXPECT_EQ(kill.at("trigger"), "press_memory");
  EXPECT_EQ(kill.at("trigger_pid"), kill.at("victim_pid"));
  EXPECT_EQ(kill.at("for"), "cgroup");
  EXPECT_EQ(kill.at("how"), "killed");
  const Json victim = row_of(oom, 2, "victim_pid", kill.at("victim_pid"));
  ASSERT_FALSE(victim.is_null()) << oom.dump(1);
  EXPECT_GE(victim.at("anon").get<std::uint64_t>(), 12 * kMebibyte);
  EXPECT_LE(victim.at("anon").get<std::uint64_t>(), 16 * kMebibyte);  // not the machine's memory
  EXPECT_GE(victim.at("total_vm").get<std::uint64_t>(), 48 * kMebibyte);
  EXPECT_EQ(victim.at("uid"), 0);
  const Json machine = row_of(oom, 3, "victim_pid", kill.at("victim_pid"));
  ASSERT_FALSE(machine.is_null()) << oom.dump(1);
  EXPECT_TRUE(machine.at("load_averages").is_string());
  EXPECT_GT(machine.at("available").get<std::uint64_t>(), 0U);
  EXPECT_EQ(oom.at("tables").at(5).at("rows").at(0).at("cgroup_limit"), 16 * kMebibyte);
  EXPECT_FALSE(oom.at("tables").at(4).at("rows").empty());
  const Json reclaims = traced_report("reclaim");
  const Json& first = reclaims.at("lines").at(0);
  EXPECT_GT(first.at("free").get<std::uint64_t>(), 0U);
}

TEST_F(PressureTest, live_view_knows_the_victims_cgroup_and_how_full_it_was) {
  const MemoryGroup group(dir_.path(), 16 * kMebibyte);
  if (!group.usable()) {
    GTEST_SKIP() << "no memory cgroup can be made";
  }
  group.forbid_swap();
  const Outcome outcome = run("$MEMTRACE oom -a --format json -- " + group.enter() +
                              "$PUPPETS/press_memory anon 16384");
  const Json oom = Json::parse(outcome.out, nullptr, false);
  ASSERT_FALSE(oom.is_discarded()) << outcome.all();
  const Json kill = row_of(oom, 1, "victim", "press_memory");
  ASSERT_FALSE(kill.is_null()) << oom.dump(1);
  const Json victim = row_of(oom, 2, "victim_pid", kill.at("victim_pid"));
  EXPECT_TRUE(group.path().ends_with(victim.value("cgroup", "unknown"))) << oom.dump(1);
  ASSERT_EQ(oom.at("tables").size(), 6U) << oom.dump(1);
  const Json limit = row_of(oom, 5, "victim_pid", kill.at("victim_pid"));
  EXPECT_EQ(limit.at("cgroup_limit"), 16 * kMebibyte);
  // The kernel leaves its own report out when there were many just before.
  if (!limit.at("cgroup_usage").is_null()) {
    EXPECT_GT(limit.at("cgroup_usage").get<std::uint64_t>(), 15 * kMebibyte);
  }
}

// The kernel leaves out its report of a kill when there were many, but never the line of the
// victim.
TEST_F(PressureTest, past_kills_are_those_of_the_kernels_log) {
  const MemoryGroup group(dir_.path(), 16 * kMebibyte);
  if (!group.usable()) {
    GTEST_SKIP() << "no memory cgroup can be made";
  }
  group.forbid_swap();
  run("sh -c 'echo $$ >victim; exec " + group.enter() + "$PUPPETS/press_memory anon 12288'");
  const std::uint64_t victim = std::stoull(text_of(dir_.path() + "/victim"));
  for (const char* log : {"", "log"}) {
    const Json kills = json_of(std::string("dmesg >log; $MEMTRACE oom --past --by kill ") + log +
                               " --format json");
    const Json kill = row_of(kills, 0, "victim_pid", victim);
    ASSERT_FALSE(kill.is_null()) << kills.dump(1);
    EXPECT_EQ(kill.at("kills"), 1);
    EXPECT_GT(kill.at("anon").get<std::uint64_t>(), 12 * kMebibyte);
  }
}

TEST_F(PressureTest, signals_of_others_are_no_kills_for_lack_of_memory) {
  run_well("$MEMTRACE record --for faults -- sh -c 'sleep 5 & sleep 0.2; kill -9 $!; wait; true'");
  EXPECT_FALSE(run_well("$MEMTRACE report").says("OOM killer"));
  const Outcome overview = run_well("$MEMTRACE report --all");
  EXPECT_FALSE(overview.says("OOM kills: kills 1")) << overview.all();
  EXPECT_FALSE(overview.says("Total: kills")) << overview.all();
}

TEST_F(PressureTest, victim_may_be_another_than_who_wanted_memory) {
  const MemoryGroup group(dir_.path(), 16 * kMebibyte);
  group.forbid_swap();
  if (!group.usable()) {
    GTEST_SKIP() << "no memory cgroup can be made";
  }
  // The first one keeps 11 MiB and is the one to be killed; the second one wants 8. Where the first
  // one's memory comes back too slowly, the kernel kills again, and then it is the second one:
  // exit_mmap() sets MMF_OOM_SKIP before the last pages are given back (mm/mmap.c).
  run("cat > both.sh <<'END'\n"
      "(echo 1000 > /proc/self/oom_score_adj; exec " +
      group.enter() +
      "$PUPPETS/press_memory hold 2800) > ready & echo $! > victim\n"
      "for i in $(seq 100); do grep -q ready ready && break; sleep 0.05; done\n" +
      group.enter() + "$PUPPETS/press_memory anon 2000\nEND\n" +
      "$MEMTRACE record -a --for oom -- sh both.sh");
  const Json oom = report("oom --by kill");
  std::uint64_t kills = 0;
  for (const Json& row : oom.at("tables").at(1).at("rows")) {
    kills += row.at("trigger") == "press_memory" ? 1U : 0U;
  }
  EXPECT_EQ(kills, group.kills()) << oom.dump(1);
  const Json kill = row_of(oom, 1, "victim_pid", std::stoull(text_of(dir_.path() + "/victim")));
  ASSERT_FALSE(kill.is_null()) << oom.dump(1);
  EXPECT_EQ(kill.at("how"), "killed");
  EXPECT_NE(kill.at("trigger_pid"), kill.at("victim_pid"));
  EXPECT_EQ(kill.at("trigger"), "press_memory");
}

TEST_F(PressureTest, kill_is_found_by_its_signal_too) {
  const MemoryGroup group(dir_.path(), 16 * kMebibyte);
  group.forbid_swap();
  if (!group.usable()) {
    GTEST_SKIP() << "no memory cgroup can be made";
  }
  run("$MEMTRACE record -a -e signal:signal_generate -- sh -c \"sleep 9 & kill -9 $!; " +
      group.enter() + "$PUPPETS/press_memory anon 12288\"");
  EXPECT_EQ(group.kills(), 1U);
  const Json oom = report("oom");
  EXPECT_GE(total_of(oom, "kills"), 1U);
  EXPECT_TRUE(row_of(oom, 1, "victim", "sleep").is_null()) << "the other fatal signal";
  const Json kill = row_of(oom, 1, "victim", "press_memory");
  ASSERT_FALSE(kill.is_null()) << oom.dump(1);
  EXPECT_EQ(kill.at("for"), "cgroup");
}

TEST_F(PressureTest, faults_are_put_to_the_node_of_their_page) {
  record("--for numa -- $PUPPETS/touch_pages 5000");
  const Json numa = report("numa");
  ASSERT_EQ(numa.at("tables").size(), 2U) << numa.dump(1);
  std::uint64_t faults = 0;
  for (const Json& row : numa.at("tables").at(1).at("rows")) {
    if (row.at("comm") == "touch_pages" && row.at("node").is_number()) {
      faults += row.at("faults").get<std::uint64_t>();
      EXPECT_EQ(row.at("local").get<std::uint64_t>() + row.at("remote").get<std::uint64_t>(),
                row.at("faults").get<std::uint64_t>());
    }
  }
  EXPECT_GE(faults, 5000U);
  EXPECT_LE(faults, 5400U);  // its start has some of its own
}

}  // namespace
}  // namespace memtrace::test
