// Reports without enough memory: a report, or a sentence and status 1. Never a signal.
#include "live/live_test.h"
#include "live/memory_group.h"

namespace memtrace::test {
namespace {

constexpr int kLimits = 40;

class ReportMemoryTest : public LiveTest {
 protected:
  // Of the kernel's events; and of perf's stacks, which are unwound when they are reported.
  void record() {
    run_well("$MEMTRACE record -a --for kernel -o kernel.data -- $PUPPETS/touch_pages 20000");
    run("perf record -q --call-graph dwarf -e page-faults -o stacks.data -- "
        "$PUPPETS/touch_pages 2000");
  }

  // What stands before the words is the limit.
  void expect_report_or_sentence(const std::string& before, const std::string& file) {
    const Outcome outcome = run(before + "$MEMTRACE report --all -i " + file + " > report");
    const bool is_refused = outcome.status == 1 && outcome.says("memtrace: ");
    const bool is_too_small_for_libraries = outcome.status == 127;
    EXPECT_TRUE(outcome.status == 0 || is_refused || is_too_small_for_libraries)
        << before << file << ": " << outcome.all();
    reports_ += outcome.status == 0 ? 1 : 0;
    refusals_ += is_refused ? 1 : 0;
  }

  void expect_both() const {
    EXPECT_GT(reports_, 0);
    EXPECT_GT(refusals_, 0);
  }

  int reports_ = 0;
  int refusals_ = 0;
};

TEST_F(ReportMemoryTest, no_address_space_is_a_sentence) {
  need_perf();
  if (IsSkipped()) {
    return;
  }
  record();
  for (int i = 0; i < kLimits; ++i) {
    const std::string limit = "ulimit -v " + std::to_string(20'000 + i * 7'000) + "; ";
    expect_report_or_sentence(limit, i % 2 == 0 ? "kernel.data" : "stacks.data");
  }
  expect_both();
}

TEST_F(ReportMemoryTest, no_memory_of_the_cgroup_is_a_sentence) {
  need_perf();
  if (IsSkipped()) {
    return;
  }
  record();
  const MemoryGroup group(dir_.path(), std::uint64_t{1} << 30U);
  if (!group.usable()) {
    GTEST_SKIP() << "no memory cgroup can be made here";
  }
  group.forbid_swap();
  for (std::uint64_t i = 0; i < kLimits; ++i) {
    ASSERT_TRUE(group.set_limit((16 + i * 4) << 20U));
    expect_report_or_sentence("sh enter.sh ", i % 2 == 0 ? "kernel.data" : "stacks.data");
  }
  EXPECT_EQ(group.kills(), 0U);
  expect_both();
}

// The report of the part until there.
TEST_F(ReportMemoryTest, tables_stop_growing_and_a_note_says_it) {
  record();
  run_well("$MEMTRACE record -a --for kernel -o many.data -- $PUPPETS/many_kmallocs 60000");
  const Outcome whole = run_well("$MEMTRACE report kmalloc -i many.data");
  const Outcome part = run_well("$MEMTRACE report --all --max-memory 16M -i many.data");
  EXPECT_EQ(whole.out.find("memory is short"), std::string::npos) << whole.out;
  EXPECT_NE(part.out.find("memory is short: the tables reached 16.0 MiB"), std::string::npos)
      << part.out;
  const Outcome refused = run("$MEMTRACE report --max-memory 15M -i many.data");
  EXPECT_EQ(refused.status, 2);
  EXPECT_TRUE(refused.says("the least is 16.0 MiB")) << refused.all();
}

}  // namespace
}  // namespace memtrace::test
