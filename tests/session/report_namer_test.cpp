#include "session/report_namer.h"

#include <gtest/gtest.h>

#include "support/fake_namer.h"

namespace memtrace {
namespace {

class ReportNamerTest : public testing::Test {
 protected:
  ReportNamerTest() {
    const auto places = world_.stacks().locations(stack_);
    names_.locations[places[0]] = test::frames({"inlined", "inner"});
    names_.locations[places[1]] = test::frames({"middle"});
    names_.locations[places[2]] = test::frames({"outer"});
    names_.stacks[stack_] = test::frames({"inlined", "inner", "middle", "outer"});
  }

  World world_{{}};
  StackId stack_ = world_.intern_stack(
      1, std::vector<std::uint64_t>{0xffffffff81000040U, 0xffffffff81000080U, 0xffffffff810000c0U});
  test::FakeNamer names_;
};

TEST_F(ReportNamerTest, what_is_inlined_into_a_function_counts_with_it) {
  ReportNamer two(names_, world_, 2);
  ASSERT_EQ(two.stack(stack_).size(), 3U);
  EXPECT_EQ(two.stack(stack_).back().function, "middle");
}

TEST_F(ReportNamerTest, without_a_depth_and_with_a_large_one_stacks_are_whole) {
  for (const std::size_t depth : {0U, 3U, 99U}) {
    EXPECT_EQ(ReportNamer(names_, world_, depth).stack(stack_).size(), 4U) << depth;
  }
}

}  // namespace
}  // namespace memtrace
