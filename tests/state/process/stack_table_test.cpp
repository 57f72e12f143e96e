#include "state/process/stack_table.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <vector>

namespace memtrace {
namespace {

constexpr LocationId kMainPlace{1};
constexpr LocationId kParsePlace{2};
constexpr LocationId kRunPlace{3};

TEST(StackTable, stacks_of_the_same_places_are_one) {
  StackTable stacks;
  const StackId main = stacks.called_from({}, kMainPlace);
  const StackId parse = stacks.called_from(main, kParsePlace);
  const StackId run = stacks.called_from(main, kRunPlace);
  EXPECT_EQ(stacks.called_from({}, kMainPlace), main);
  EXPECT_EQ(stacks.called_from(main, kParsePlace), parse) << "behind its caller";
  EXPECT_EQ(stacks.called_from(main, kRunPlace), run) << "not behind it";
  EXPECT_EQ(stacks.called_from(parse, kRunPlace), stacks.called_from(parse, kRunPlace));
  EXPECT_NE(stacks.called_from(parse, kRunPlace), run);
}

TEST(StackTable, only_the_stack_behind_its_caller_is_next_to_it) {
  StackTable stacks;
  EXPECT_FALSE(stacks.next_to({}, kMainPlace).valid());
  const StackId main = stacks.called_from({}, kMainPlace);
  const StackId parse = stacks.called_from(main, kParsePlace);
  const StackId run = stacks.called_from(main, kRunPlace);
  EXPECT_EQ(stacks.next_to(main, kParsePlace), parse);
  EXPECT_FALSE(stacks.next_to(main, kRunPlace).valid());
  EXPECT_FALSE(stacks.next_to(parse, kRunPlace).valid()) << "of another caller";
  EXPECT_FALSE(stacks.next_to(run, kMainPlace).valid()) << "there is nothing behind it";
}

TEST(StackTable, any_order_of_calls_gives_each_stack_one_number) {
  StackTable stacks;
  std::map<std::vector<std::uint32_t>, StackId> known;
  std::mt19937 random(1);
  for (int i = 0; i < 20'000; ++i) {
    std::vector<std::uint32_t> path;
    StackId stack;
    for (std::size_t depth = 1 + random() % 6; depth > 0; --depth) {
      const std::uint32_t place = 1 + random() % 4;
      path.push_back(place);
      stack = stacks.called_from(stack, LocationId{place});
      const auto [entry, is_new] = known.try_emplace(path, stack);
      ASSERT_EQ(entry->second, stack);
    }
  }
  EXPECT_EQ(stacks.size(), known.size());
}

}  // namespace
}  // namespace memtrace
