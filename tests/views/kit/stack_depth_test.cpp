// --depth, as keys and rows have it.
#include <gtest/gtest.h>

#include <array>

#include "views/kit/group_by.h"

namespace memtrace::stack_depth_test {
namespace {

struct Sum {
  std::uint64_t count = 0;
  Largest largest;
};

constexpr auto kFigures = std::to_array<Figure<Sum>>({
    figure<&Sum::count>("count"),
    figure<&Sum::largest, &Largest::value>("max"),
});
constexpr auto kNames = std::to_array<std::string_view>({"stack", "pid"});

class StackDepth : public testing::Test {
 protected:
  // Kernel functions, innermost first.
  StackId stack(std::initializer_list<std::uint64_t> functions) {
    std::vector<std::uint64_t> chain;
    for (const std::uint64_t function : functions) {
      chain.push_back(0xffffffff81000000U + function * 64);
    }
    return world_.intern_stack(1, chain);
  }

  Table grouped(const ViewOptions& options, std::initializer_list<StackId> stacks) {
    GroupBy<Sum> rows(KeySet::choose(options, kNames).take());
    std::uint64_t value = 0;
    for (const StackId stack : stacks) {
      Event event;
      event.stack = stack;
      ++value;
      rows.row(event) += {value, {value}};
    }
    return std::move(rows).table(kFigures, CellContext{.world = world_, .span = {}});
  }

  World world_{{}};
};

TEST_F(StackDepth, stacks_with_the_same_innermost_frames_are_one_row) {
  const StackId first = stack({1, 2, 3});
  const StackId same = stack({1, 2, 4, 5});
  const StackId other = stack({1, 6, 3});
  const Table whole = grouped({.by = {"stack"}}, {first, same, other});
  EXPECT_EQ(whole.rows.size(), 3U);
  const Table cut = grouped({.by = {"stack"}, .stack_depth = 2}, {first, same, other});
  ASSERT_EQ(cut.rows.size(), 2U);
  EXPECT_EQ(cut.rows[0], (std::vector<Cell>{first, std::uint64_t{3}, std::uint64_t{2}}));
  EXPECT_EQ(cut.rows[1], (std::vector<Cell>{other, std::uint64_t{3}, std::uint64_t{3}}));
}

TEST_F(StackDepth, shorter_stacks_stay_apart) {
  const Table cut = grouped({.by = {"stack"}, .stack_depth = 3},
                            {stack({1, 2}), stack({1, 2, 3}), stack({1, 2, 3, 4}), StackId()});
  EXPECT_EQ(cut.rows.size(), 3U);
}

TEST_F(StackDepth, other_keys_stay_as_they_are) {
  Event event;
  event.stack = stack({1, 2});
  GroupBy<Sum> rows(KeySet::choose({.by = {"pid", "stack"}, .stack_depth = 1}, kNames).take());
  event.pid = 1;
  rows.row(event) += {1, {1}};
  event.pid = 2;
  event.stack = stack({1, 3});
  rows.row(event) += {1, {1}};
  event.stack = stack({1, 4});
  rows.row(event) += {1, {1}};
  EXPECT_EQ(rows.table(kFigures, CellContext{.world = world_, .span = {}}).rows.size(), 2U);
}

}  // namespace
}  // namespace memtrace::stack_depth_test
