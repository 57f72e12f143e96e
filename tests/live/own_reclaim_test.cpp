// memtrace itself short of memory: what it has to reclaim is in the figures, too.
#include "live/pressure_live_test.h"

namespace memtrace::test {
namespace {

using OwnReclaimTest = PressureTest;

TEST_F(OwnReclaimTest, figures_are_those_of_vmstat_when_memtrace_is_in_the_group_that_is_full) {
  const MemoryGroup group(dir_.path(), 48 * kMebibyte);
  group.forbid_swap();
  if (!group.usable()) {
    GTEST_SKIP() << "no memory cgroup can be made";
  }
  // What memtrace reads to start and to end is reclaimed from the same group, and not recorded.
  run_well(group.enter() +
           "$MEMTRACE record -a --for vmscan --ring-size 1M -- sh -c '\n"
           "cat /proc/vmstat > before; $PUPPETS/press_memory file data 32768\n"
           "cat /proc/vmstat > after'");
  Grown grown;
  grown.before = figures_in(dir_.file("before"));
  grown.after = figures_in(dir_.file("after"));
  const Json vmscan = report("vmscan");
  EXPECT_EQ(lost_in(vmscan), 0U);
  const auto stolen = static_cast<double>(grown.by("pgsteal_file") + grown.by("pgsteal_anon"));
  EXPECT_GE(stolen, 20000);  // 128 MiB through 48
  const auto told = static_cast<double>(sum_of_kinds(vmscan, "reclaimed"));
  EXPECT_GE(told, stolen * 0.98);
  EXPECT_LE(told, stolen * 1.1);  // the shell's start
  const Json own = row_of(vmscan, 0, "comm", "memtrace");
  ASSERT_FALSE(own.is_null()) << vmscan.dump(1);
  EXPECT_GT(own.at("cgroup").get<std::uint64_t>(), 0U);
  std::uint64_t by_process = 0;
  for (const Json& row : vmscan.at("tables").at(0).at("rows")) {
    by_process += row.at("inactive").get<std::uint64_t>();
  }
  EXPECT_GE(static_cast<double>(by_process), stolen * 0.98);
}

}  // namespace
}  // namespace memtrace::test
