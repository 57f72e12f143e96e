#include "report/call_tree.h"

#include <gtest/gtest.h>

#include "report/arrange.h"
#include "support/fake_namer.h"

namespace memtrace {
namespace {

// "main 9/0(parse 6/0(malloc 6/6) malloc 3/3)": totals and what ends there.
std::string text_of(const CallNode& node) {
  std::string text = node.frame.function + (node.is_recursive ? "* " : " ") +
                     std::to_string(node.total) + "/" + std::to_string(node.own);
  std::string inner;
  for (const CallNode& child : node.children) {
    inner += (inner.empty() ? "" : " ") + text_of(child);
  }
  if (node.other_count > 0) {
    inner += (inner.empty() ? "" : " ") + std::to_string(node.other_count) + " others " +
             std::to_string(node.other_total);
  }
  return inner.empty() ? text : text + "(" + inner + ")";
}

struct Stack {
  std::initializer_list<std::string> innermost_first;
  std::uint64_t weight;
};

CallNode tree_of(std::initializer_list<Stack> stacks,
                 TreeOrder order = TreeOrder::Caller,
                 double least_share = 0) {
  CallTreeBuilder builder(order);
  for (const Stack& stack : stacks) {
    builder.add({}, test::frames(stack.innermost_first), stack.weight);
  }
  return builder.take(least_share);
}

TEST(CallTree, what_stacks_have_in_common_is_one_path) {
  EXPECT_EQ(text_of(tree_of({{{"malloc", "main"}, 3}, {{"malloc", "parse", "main"}, 6}})),
            " 9/0(main 9/0(parse 6/0(malloc 6/6) malloc 3/3))");
}

TEST(CallTree, from_the_innermost_function_outwards) {
  EXPECT_EQ(text_of(tree_of({{{"malloc", "main"}, 3}, {{"malloc", "parse", "main"}, 6}},
                            TreeOrder::Callee)),
            " 9/0(malloc 9/0(parse 6/0(main 6/6) main 3/3))");
}

TEST(CallTree, a_function_may_have_costs_of_its_own_beside_its_callees) {
  EXPECT_EQ(text_of(tree_of({{{"main"}, 1}, {{"malloc", "main"}, 2}})),
            " 3/0(main 3/1(malloc 2/2))");
}

TEST(CallTree, recursion_counts_once) {
  EXPECT_EQ(text_of(tree_of({{{"malloc", "walk", "walk", "walk", "main"}, 5},
                             {{"malloc", "walk", "main"}, 2},
                             {{"walk", "walk", "main"}, 1}})),
            " 8/0(main 8/0(walk* 8/1(malloc 7/7)))");
}

TEST(CallTree, functions_that_call_each_other_stay_apart_and_count_once_each) {
  EXPECT_EQ(text_of(tree_of({{{"a", "b", "a", "main"}, 4}})),
            " 4/0(main 4/0(a 4/0(b 4/0(a 4/4))))");
}

TEST(CallTree, the_largest_come_first_and_equal_ones_by_name) {
  EXPECT_EQ(text_of(tree_of({{{"c"}, 1}, {{"b"}, 1}, {{"a"}, 2}})), " 4/0(a 2/2 b 1/1 c 1/1)");
}

TEST(CallTree, small_children_are_added_up) {
  EXPECT_EQ(text_of(tree_of({{{"a"}, 990}, {{"b"}, 5}, {{"c"}, 3}, {{"d", "c"}, 1}, {{"e"}, 1}},
                            TreeOrder::Caller,
                            0.005)),
            " 1000/0(a 990/990 b 5/5 2 others 5)");
}

TEST(CallTree, an_empty_stack_is_a_branch_of_its_own) {
  EXPECT_EQ(text_of(tree_of({{{}, 3}, {{"a"}, 1}})), " 4/0((no stack) 3/3 a 1/1)");
}

TEST(CallTree, calls_from_several_lines_have_no_line) {
  CallTreeBuilder builder(TreeOrder::Caller);
  const auto frame = [](std::uint32_t line, std::string file) {
    return Frame{.function = "main", .module = "demo", .file = std::move(file), .line = line};
  };
  builder.add({}, {frame(1, "a.cpp")}, 1);
  EXPECT_EQ(builder.take(0).children.at(0).frame.line, 1U);
  builder.add({}, {frame(1, "a.cpp")}, 1);
  builder.add({}, {frame(2, "a.cpp")}, 1);
  const CallNode lines = builder.take(0);
  ASSERT_EQ(lines.children.size(), 1U);
  EXPECT_EQ(lines.children[0].frame.line, 0U);
  EXPECT_EQ(lines.children[0].frame.file, "a.cpp");
  builder.add({}, {frame(1, "a.cpp")}, 1);
  builder.add({}, {frame(1, "b.cpp")}, 1);
  EXPECT_EQ(builder.take(0).children.at(0).frame.file, "");
}

TEST(CallTree, functions_of_two_files_are_two) {
  CallTreeBuilder builder(TreeOrder::Caller);
  builder.add({}, {{.function = "init", .module = "a"}}, 1);
  builder.add({}, {{.function = "init", .module = "b"}}, 1);
  EXPECT_EQ(builder.take(0).children.size(), 2U);
}

TEST(CallTree, keys_stand_above_in_both_orders) {
  for (const TreeOrder order : {TreeOrder::Caller, TreeOrder::Callee}) {
    CallTreeBuilder builder(order);
    builder.add({"bash", "pid 1"}, test::frames({"main"}), 2);
    builder.add({"main"}, test::frames({"main"}), 1);
    EXPECT_EQ(text_of(builder.take(0)), " 3/0(bash 2/0(pid 1 2/0(main 2/2)) main 1/0(main 1/1))");
  }
}

class ArrangedTree : public testing::Test {
 protected:
  ArrangedTree() {
    namer_.stacks[StackId{1}] = test::frames({"malloc", "main"});
    namer_.stacks[StackId{2}] = test::frames({"read", "main"});
    report_.tables.push_back({.title = "by stack, pid",
                              .columns = {{"stack", Unit::Stack},
                                          {"pid", Unit::Number},
                                          {"count", Unit::Count},
                                          {"bytes", Unit::Bytes}},
                              .key_count = 2,
                              .sort = "bytes",
                              .rows = {row(1, 7, 2, 30), row(2, 7, 6, 10), row(0, 8, 0, 0)}});
    report_.tables.push_back({.columns = {{"comm", Unit::Text}, {"count", Unit::Count}},
                              .key_count = 1,
                              .sort = "count",
                              .rows = {{"a", std::uint64_t{2}}, {"b", std::uint64_t{1}}}});
  }

  static std::vector<Cell> row(std::uint32_t stack,
                               std::uint64_t pid,
                               std::uint64_t count,
                               std::uint64_t bytes) {
    return {StackId{stack}, pid, count, bytes};
  }

  test::FakeNamer namer_;
  Report report_;
};

TEST_F(ArrangedTree, takes_the_place_of_the_table_and_has_all_of_its_rows) {
  ASSERT_TRUE(arrange(report_, {.top = 1, .tree = TreeOrder::Caller}, namer_).ok());
  ASSERT_EQ(report_.trees.size(), 1U);
  EXPECT_EQ(report_.trees[0].title, "by stack, pid");
  EXPECT_EQ(report_.trees[0].figure.name, "bytes");
  EXPECT_EQ(report_.trees[0].whole, 40U);
  EXPECT_EQ(text_of(report_.trees[0].root),
            " 40/0(pid 7 40/0(main 40/0(malloc 30/30 read 10/10)))");
  ASSERT_EQ(report_.tables.size(), 1U);
  EXPECT_EQ(report_.tables[0].rows.size(), 2U);  // the first, and the rest
}

TEST_F(ArrangedTree, is_of_the_figure_that_is_sorted_by_and_of_what_passes_the_filters) {
  ArrangeOptions options{.sort = "count", .tree = TreeOrder::Callee};
  options.exclude = {NamePattern::parse("malloc").take()};
  ASSERT_TRUE(arrange(report_, options, namer_).ok());
  EXPECT_EQ(text_of(report_.trees.at(0).root), " 6/0(pid 7 6/0(read 6/0(main 6/6)))");
  EXPECT_EQ(report_.trees[0].whole, 8U);
}

TEST_F(ArrangedTree, without_stacks_is_a_usage_error) {
  report_.tables.erase(report_.tables.begin());
  const auto result = arrange(report_, {.tree = TreeOrder::Caller}, namer_);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().kind, ErrorKind::Usage);
}

TEST_F(ArrangedTree, a_table_in_which_nothing_happened_stays) {
  report_.tables[0].rows.clear();
  ASSERT_TRUE(arrange(report_, {.tree = TreeOrder::Caller}, namer_).ok());
  EXPECT_TRUE(report_.trees.empty());
  EXPECT_EQ(report_.tables.size(), 2U);
}

}  // namespace
}  // namespace memtrace
