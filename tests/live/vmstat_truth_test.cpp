// What reports show beside the kernel's counters (man page of report), on this kernel.
#include <cmath>

#include "live/folio_setting.h"
#include "live/pressure_live_test.h"

namespace memtrace::test {
namespace {

class VmstatTruthTest : public PressureTest {
 protected:
  // Others may do at the same time what no event shows: one try of four has to be right.
  static void expect_explained(Try& tried, const Json& report, const std::string& figure) {
    const Json row = truth_row(report, figure);
    ASSERT_FALSE(row.is_null()) << report.dump(1);
    const double explained = row.at("explained").get<double>();
    if (std::abs(explained - 100.0) > 3.0) {
      tried.expect_equal(row.at("counted").get<std::uint64_t>(),
                         row.at("grown").get<std::uint64_t>(),
                         figure.c_str());
    }
  }

  static void expect_moves_explained(Try& tried, const Json& report, const std::string& figure) {
    if (!truth_row(report, figure).is_null()) {
      expect_explained(tried, report, figure);
    } else {  // nothing was left to be moved
      EXPECT_EQ(total_of(report, "migrated"), 0U);
    }
  }
};

// Twenty processes and 100 MiB, and what is on the machine is moved together.
TEST_F(VmstatTruthTest, faults_allocations_and_migrations_are_those_that_the_kernel_counts) {
  expect_some_try([&](Try& tried) {
    run_well(
        "$MEMTRACE record -a --for faults,pages,numa -- sh -c 'for i in 1 2 3 4 5 6 7 8 9 10; do "
        "ls / | wc -l; done; $PUPPETS/fault_kinds copy 25600; "
        "echo 1 > /proc/sys/vm/compact_memory'");
    expect_explained(tried, report("faults"), "all faults");
    expect_explained(tried, report("pages"), "allocated pages");
    expect_moves_explained(tried, report("numa"), "migrated");
  });
}

// Until its command ends; intervals are not compared, for the counters are read a moment later.
TEST_F(VmstatTruthTest, a_live_view_counts_from_the_first_event_to_the_last) {
  const std::string puppet = "sh -c '$PUPPETS/fault_kinds copy 25600 >/dev/null'";
  expect_some_try([&](Try& tried) {
    expect_explained(
        tried, Json::parse(run_well("$MEMTRACE faults -a --json -- " + puppet).out), "all faults");
  });
  const Outcome intervals = run_well("$MEMTRACE faults -a 0.2 2");
  EXPECT_FALSE(intervals.says("beside what the kernel counted")) << intervals.all();
}

// Pages that compaction moves, and what 60 MiB of a file and of memory are to `stalls`.
TEST_F(VmstatTruthTest, compaction_and_stalls_count_what_the_kernel_counts) {
  expect_some_try([&](Try& tried) {
    run_well(
        "$MEMTRACE record -a --for compaction,stalls -- sh -c '$PUPPETS/press_memory holes 16384 > "
        "ready & until grep -q ready ready; do kill -0 $! || exit 1; sleep 0.05; done; echo 1 > "
        "/proc/sys/vm/compact_memory; kill $!; dd if=/dev/zero of=written bs=64K count=1000'");
    const Json compaction = report("compaction");
    expect_moves_explained(tried, compaction, "all migrated");
    const Json stalls = report("stalls");
    expect_explained(tried, stalls, "allocated pages");
    expect_explained(tried, stalls, "dirtied");
  });
}

TEST_F(VmstatTruthTest, collapses_are_those_that_the_kernel_counts) {
  expect_some_try([&](Try& tried) {
    run_well("$MEMTRACE record -a --for compaction -- $PUPPETS/press_memory collapse 40");
    expect_explained(tried, report("compaction"), "collapsed");
  });
}

TEST_F(VmstatTruthTest, huge_pages_are_those_that_the_kernel_counts) {
  const FolioSetting huge("/sys/kernel/mm/transparent_hugepage/enabled");
  if (!huge.is_there()) {
    GTEST_SKIP() << "this kernel has no transparent huge pages";
  }
  huge.set("madvise");
  expect_some_try([&](Try& tried) {
    run_well("$MEMTRACE record -a --for hfaults -- $PUPPETS/fault_kinds thp 50");
    expect_explained(tried, report("hfaults"), "anonymous thp");
  });
}

}  // namespace
}  // namespace memtrace::test
