#include "state/process/stack_table.h"

namespace memtrace {

LocationId StackTable::intern(const CodeLocation& location) {
  const LocationId next{static_cast<std::uint32_t>(locations_.size() + 1)};
  const auto [found, is_new] = location_ids_.try_emplace(location, next);
  if (is_new) {
    locations_.push_back(location);
  }
  return found->second;
}

StackId StackTable::intern(std::span<const LocationId> innermost_first) {
  StackId stack;
  for (std::size_t i = innermost_first.size(); i > 0; --i) {
    const LocationId location = innermost_first[i - 1];
    const std::uint64_t key = (std::uint64_t{stack.value} << 32) | location.value;
    const StackId next{static_cast<std::uint32_t>(nodes_.size() + 1)};
    const auto [found, is_new] = node_ids_.try_emplace(key, next);
    if (is_new) {
      nodes_.push_back({location, stack});
    }
    stack = found->second;
  }
  return stack;
}

std::vector<LocationId> StackTable::locations(StackId id) const {
  std::vector<LocationId> innermost_first;
  for (; id.valid(); id = nodes_[id.value - 1].caller) {
    innermost_first.push_back(nodes_[id.value - 1].location);
  }
  return innermost_first;
}

StackId StackTable::outer(StackId id) const {
  return id.valid() ? nodes_[id.value - 1].caller : StackId{};
}

bool StackTable::passes_through(StackId stack, StackId outer) const {
  while (stack.valid() && stack != outer) {
    stack = nodes_[stack.value - 1].caller;
  }
  return outer.valid() && stack == outer;
}

LocationId StackTable::caller(StackId id) const {
  const StackId outer = id.valid() ? nodes_[id.value - 1].caller : StackId{};
  return outer.valid() ? nodes_[outer.value - 1].location : LocationId{};
}

}  // namespace memtrace
