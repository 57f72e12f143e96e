// What reports show beside the kernel's counters (man page of report), on this kernel.
#include <cmath>

#include "live/folio_setting.h"
#include "live/pressure_live_test.h"

namespace memtrace::test {
namespace {

class VmstatTruthTest : public PressureTest {
 protected:
  // Others may do at the same time what no event shows: one try of four has to be right.
  void expect_explained(const std::string& what,
                        const std::map<std::string, const char*>& figures_of_views) {
    expect_some_try([&](Try& tried) {
      run_well("$MEMTRACE record -a " + what);
      for (const auto& [figure, view] : figures_of_views) {
        const Json report = this->report(view);
        const Json row = truth_row(report, figure);
        if (row.is_null()) {  // the counter did not grow
          tried.expect_equal(total_of(report, figure.c_str()), 0, figure.c_str());
          continue;
        }
        const double apart = std::abs(row.at("explained").get<double>() - 100.0);
        tried.expect_equal(apart <= 3.0 ? 0 : row.at("counted").get<std::uint64_t>(),
                           apart <= 3.0 ? 0 : row.at("grown").get<std::uint64_t>(),
                           figure.c_str());
      }
    });
  }
};

// Twenty processes and 100 MiB, and what is on the machine is moved together.
TEST_F(VmstatTruthTest, faults_allocations_and_migrations_are_those_that_the_kernel_counts) {
  expect_explained(
      "--for faults,pages,numa -- sh -c 'for i in 1 2 3 4 5 6 7 8 9 10; do ls / | wc -l; done; "
      "$PUPPETS/fault_kinds copy 25600; echo 1 > /proc/sys/vm/compact_memory'",
      {{"all faults", "faults"}, {"allocated pages", "pages"}, {"migrated", "numa"}});
  for (const auto& [figure, view] :
       {std::pair("all faults", "faults"), {"allocated pages", "pages"}}) {
    EXPECT_FALSE(truth_row(report(view), figure).is_null()) << figure;
  }
}

// Until its command ends; intervals are not compared, for the counters are read a moment later.
TEST_F(VmstatTruthTest, a_live_view_counts_from_the_first_event_to_the_last) {
  const std::string puppet = "sh -c '$PUPPETS/fault_kinds copy 25600 >/dev/null'";
  expect_some_try([&](Try& tried) {
    const Json report = Json::parse(run_well("$MEMTRACE faults -a --json -- " + puppet).out);
    const Json row = truth_row(report, "all faults");
    ASSERT_FALSE(row.is_null()) << report.dump(1);
    const bool is_near = std::abs(row.at("explained").get<double>() - 100.0) <= 3.0;
    tried.expect_equal(is_near ? 0 : row.at("counted").get<std::uint64_t>(),
                       is_near ? 0 : row.at("grown").get<std::uint64_t>(),
                       "all faults");
  });
  const Outcome intervals = run_well("$MEMTRACE faults -a 0.2 2");
  EXPECT_FALSE(intervals.says("beside what the kernel counted")) << intervals.all();
}

TEST_F(VmstatTruthTest, huge_pages_are_those_that_the_kernel_counts) {
  const FolioSetting huge("/sys/kernel/mm/transparent_hugepage/enabled");
  if (!huge.is_there()) {
    GTEST_SKIP() << "this kernel has no transparent huge pages";
  }
  huge.set("madvise");
  expect_explained("--for hfaults -- $PUPPETS/fault_kinds thp 50", {{"thp", "hfaults"}});
}

}  // namespace
}  // namespace memtrace::test
