// Memory that is refused for a known limit: the reason, and figures against what the program itself
// read from /proc.
#include <sys/sysinfo.h>

#include <sstream>

#include "live/live_test.h"
#include "live/memory_group.h"

namespace memtrace::test {
namespace {

class FailuresTest : public LiveTest {
 protected:
  struct Refused {
    std::uint64_t asked = 0;
    std::uint64_t limit = 0;
    std::uint64_t used = 0;
    Json row;  // of the reason
    Json report;
  };

  // By a recording: the live view is the same code behind another source.
  Refused refuse(const std::string& how, std::string_view reason) {
    const Outcome outcome = run_well("$MEMTRACE record --for failures -- $PUPPETS/run_out " + how);
    Refused refused;
    std::string word;
    std::istringstream(outcome.out) >> word >> refused.asked >> word >> refused.limit >> word >>
        refused.used;
    refused.report = report("failures");
    for (const Json& row : refused.report.at("tables").at(0).at("rows")) {
      if (row.at("comm") == "run_out" && row.at("reason") == reason) {
        refused.row = row;
      }
    }
    EXPECT_FALSE(refused.row.is_null()) << refused.report.dump(1);
    return refused;
  }
};

TEST_F(FailuresTest, an_address_space_that_is_full) {
  const Refused refused = refuse("as", "rlimit_as");
  ASSERT_FALSE(refused.row.is_null());
  EXPECT_EQ(refused.row.at("asked"), refused.asked);
  EXPECT_EQ(refused.row.at("limit"), refused.limit);
  EXPECT_EQ(refused.row.at("used"), refused.used);
  EXPECT_EQ(refused.row.at("excess"), refused.used + refused.asked - refused.limit);
  EXPECT_EQ(refused.row.at("count"), 1);
  const Json& stacks = refused.report.at("tables").at(1).at("rows");
  EXPECT_NE(stacks.dump().find("run_into_limit"), std::string::npos) << stacks;
}

TEST_F(FailuresTest, memory_that_may_not_be_locked) {
  const Refused refused = refuse("memlock", "rlimit_memlock");
  ASSERT_FALSE(refused.row.is_null());
  EXPECT_EQ(refused.row.at("asked"), refused.asked);
  EXPECT_EQ(refused.row.at("limit"), refused.limit);
  EXPECT_EQ(refused.row.at("excess"), refused.asked - refused.limit);
}

TEST_F(FailuresTest, as_many_mappings_as_there_may_be) {
  const Refused refused = refuse("maps", "max_map_count");
  ASSERT_FALSE(refused.row.is_null());
  EXPECT_EQ(refused.row.at("unit"), "count");
  EXPECT_EQ(refused.row.at("limit"), refused.limit);
  // /proc/PID/maps has a line more than there are mappings: that of [vsyscall].
  EXPECT_EQ(refused.row.at("used"), refused.used);
}

TEST_F(FailuresTest, pages_of_the_kernel_that_a_cgroup_has_no_room_for) {
  const MemoryGroup group(dir_.path(), 4U << 20U);
  if (!group.usable() || !write_file(group.path() + "/memory.oom_control", "1")) {
    GTEST_SKIP() << "no memory cgroup of version 1: nothing fails before the OOM killer comes";
  }
  group.forbid_swap();  // of others: to swap in, a page of the program would wait for memory
  run_well("$MEMTRACE record --for failures -- timeout 20 " + group.enter() +
           "$PUPPETS/run_out pipes");
  const Json failures = report("failures");
  Json pages;
  for (const Json& row : failures.at("tables").at(0).at("rows")) {
    if (row.at("comm") == "run_out" && row.at("kind") == "pages") {
      pages = row;
    }
  }
  ASSERT_FALSE(pages.is_null()) << failures.dump(1);
  EXPECT_EQ(pages.at("reason"), "memory_cgroup") << pages;
  EXPECT_EQ(pages.at("limit"), 4U << 20U);
  EXPECT_NE(failures.at("tables").at(1).dump().find("run_into_cgroup"), std::string::npos);
}

TEST_F(FailuresTest, more_than_the_machine_has) {
  if (text_of("/proc/sys/vm/overcommit_memory").substr(0, 1) != "0") {
    GTEST_SKIP() << "vm.overcommit_memory is not 0: the kernel has another rule";
  }
  const Refused refused = refuse("commit", "overcommit");
  ASSERT_FALSE(refused.row.is_null());

  struct sysinfo machine {};

  ASSERT_EQ(::sysinfo(&machine), 0);
  const std::uint64_t all =
      (std::uint64_t{machine.totalram} + machine.totalswap) * machine.mem_unit;
  EXPECT_EQ(refused.row.at("asked"), refused.asked);
  EXPECT_EQ(refused.row.at("limit"), all);
  EXPECT_EQ(refused.row.at("excess"), refused.asked - all);
}

}  // namespace
}  // namespace memtrace::test
