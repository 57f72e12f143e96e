// Stacks that begin alike, merged: a node for each way from the root, with the weight of all stacks
// that go through it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "render/profile/stack_profile.h"

namespace memtrace {

class StackTree {
 public:
  struct Node {
    std::size_t parent = 0;             // of the root: the root itself
    const ProfileStep* step = nullptr;  // of the first stack that came here; null: the root
    std::int64_t weight = 0;
    std::map<std::pair<std::string, CodeKind>, std::size_t> children{};  // by name, to their index
  };

  enum class Direction : std::uint8_t { FromOutermost, FromInnermost };

  // The tree of one cost, without stacks that weigh nothing or less. Borrows the profile's steps.
  StackTree(const StackProfile& profile, std::size_t kind, Direction direction);

  // The root is the first; each node comes after its parent.
  std::span<const Node> nodes() const { return nodes_; }

  const Node& root() const { return nodes_.front(); }

 private:
  void add(const WeightedStack& stack, std::int64_t weight, Direction direction);
  std::size_t child(std::size_t parent, const ProfileStep& step);

  std::vector<Node> nodes_;
};

}  // namespace memtrace
