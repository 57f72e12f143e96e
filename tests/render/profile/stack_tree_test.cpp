#include "render/profile/stack_tree.h"

#include <gtest/gtest.h>

namespace memtrace {
namespace {

WeightedStack stack_of(const std::vector<std::string>& names, std::int64_t weight) {
  WeightedStack stack{.weights = {weight}};
  for (const std::string& name : names) {
    stack.steps.push_back({.name = name});
  }
  return stack;
}

std::string text_of(const StackTree& tree) {
  std::string text;
  for (const StackTree::Node& node : tree.nodes()) {
    text += node.step == nullptr ? "all" : node.step->name;
    text += " " + std::to_string(node.weight) + " in " + std::to_string(node.parent) + "\n";
  }
  return text;
}

TEST(StackTree, stacks_that_begin_alike_are_merged) {
  const Report report;
  const StackProfile profile{
      .report = &report,
      .kinds = {{"bytes", Unit::Bytes}},
      .stacks = {stack_of({"main", "read"}, 5), stack_of({"main", "write"}, 7)}};
  EXPECT_EQ(text_of({profile, 0, StackTree::Direction::FromOutermost}),
            "all 12 in 0\nmain 12 in 0\nread 5 in 1\nwrite 7 in 1\n");
  EXPECT_EQ(text_of({profile, 0, StackTree::Direction::FromInnermost}),
            "all 12 in 0\nread 5 in 0\nmain 5 in 1\nwrite 7 in 0\nmain 7 in 3\n");
}

TEST(StackTree, what_weighs_nothing_or_less_is_left_out) {
  const Report report;
  const StackProfile profile{.report = &report,
                             .kinds = {{"change", Unit::Bytes}},
                             .stacks = {stack_of({"a"}, 0), stack_of({"b"}, -5)}};
  EXPECT_EQ(text_of({profile, 0, StackTree::Direction::FromOutermost}), "all 0 in 0\n");
}

}  // namespace
}  // namespace memtrace
