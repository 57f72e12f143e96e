#include "render/profile/stack_tree.h"

namespace memtrace {

StackTree::StackTree(const StackProfile& profile, std::size_t kind, Direction direction)
    : nodes_(1) {
  for (const WeightedStack& stack : profile.stacks) {
    if (stack.weights[kind] > 0) {
      add(stack, stack.weights[kind], direction);
    }
  }
}

void StackTree::add(const WeightedStack& stack, std::int64_t weight, Direction direction) {
  std::size_t at = 0;
  nodes_[at].weight += weight;
  const std::size_t count = stack.steps.size();
  for (std::size_t i = 0; i < count; ++i) {
    at = child(at, stack.steps[direction == Direction::FromOutermost ? i : count - 1 - i]);
    nodes_[at].weight += weight;
  }
}

std::size_t StackTree::child(std::size_t parent, const ProfileStep& step) {
  const auto [found, is_new] =
      nodes_[parent].children.try_emplace({step.name, code_kind(step)}, nodes_.size());
  const std::size_t index = found->second;
  if (is_new) {
    nodes_.push_back({.parent = parent, .step = &step});
  }
  return index;
}

}  // namespace memtrace
