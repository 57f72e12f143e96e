#include "state/process/stack_table.h"

namespace memtrace {

LocationId StackTable::intern(const CodeLocation& location) {
  const std::lock_guard lock(mutex_);
  return LocationId{locations_.number(location)};
}

StackId StackTable::called_from(StackId caller, LocationId location) {
  if (const StackId next = next_to(caller, location); next.valid()) {
    return next;
  }
  const Node node{location, caller};
  const std::lock_guard lock(mutex_);
  if (const StackId next = next_to(caller, location); next.valid()) {
    return next;  // another thread has just made it
  }
  const bool follows = caller.value == nodes_.size();
  return StackId{follows ? nodes_.add_unlisted(node) : nodes_.number(node)};
}

StackId StackTable::intern(std::span<const LocationId> innermost_first) {
  StackId stack;
  for (std::size_t i = innermost_first.size(); i > 0; --i) {
    stack = called_from(stack, innermost_first[i - 1]);
  }
  return stack;
}

std::vector<LocationId> StackTable::locations(StackId id) const {
  std::vector<LocationId> innermost_first;
  for (; id.valid(); id = nodes_[id.value].caller) {
    innermost_first.push_back(nodes_[id.value].location);
  }
  return innermost_first;
}

StackId StackTable::outer(StackId id) const {
  return id.valid() ? nodes_[id.value].caller : StackId{};
}

bool StackTable::passes_through(StackId stack, StackId outer) const {
  while (stack.valid() && stack != outer) {
    stack = nodes_[stack.value].caller;
  }
  return outer.valid() && stack == outer;
}

LocationId StackTable::caller(StackId id) const {
  const StackId outer = id.valid() ? nodes_[id.value].caller : StackId{};
  return outer.valid() ? nodes_[outer.value].location : LocationId{};
}

}  // namespace memtrace
