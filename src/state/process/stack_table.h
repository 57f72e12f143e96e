// All stacks as one tree of places in code: a stack is a leaf, its callers are its ancestors.
//
//   main ── parse ── malloc_wrapper     StackId 3 -> [malloc_wrapper, parse, main]
//       └── run                         StackId 4 -> [run, main]
#pragma once

#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

#include "base/hash.h"
#include "base/ids.h"
#include "state/process/numbered.h"
#include "symbolize/elf/code_location.h"

namespace memtrace {

// Any thread may use it.
class StackTable {
 public:
  LocationId intern(const CodeLocation& location);

  // Innermost first. The empty stack is StackId 0.
  StackId intern(std::span<const LocationId> innermost_first);

  // The stack whose innermost place is `location`; `caller` is the rest of it.
  StackId called_from(StackId caller, LocationId location);

  // The same where it costs next to nothing, else none. The nodes of a new stack follow one another
  // in memory: a stack that was seen before is mostly found by walking along it.
  StackId next_to(StackId caller, LocationId location) const {
    const StackId next{caller.value + 1};
    return next.value <= nodes_.size() && nodes_[next.value] == Node{location, caller} ? next
                                                                                       : StackId();
  }

  const CodeLocation& location(LocationId id) const { return locations_[id.value]; }

  // Innermost first.
  std::vector<LocationId> locations(StackId id) const;

  // Calls visit(location) for each of them until it returns false.
  template <typename Visit>
  void walk(StackId id, Visit visit) const {
    while (id.valid() && visit(nodes_[id.value].location)) {
      id = nodes_[id.value].caller;
    }
  }

  // The second of them: who called the innermost function; none for a shorter stack.
  LocationId caller(StackId id) const;

  // The stack without its innermost location.
  StackId outer(StackId id) const;

  // Whether the calls of `outer` are the outermost ones of `stack`, too.
  bool passes_through(StackId stack, StackId outer) const;

  std::size_t location_count() const { return locations_.size(); }

  // Nodes of the tree.
  std::size_t size() const { return nodes_.size(); }

 private:
  struct Node {
    LocationId location;
    StackId caller;

    friend bool operator==(const Node&, const Node&) = default;
  };

  struct NodeHash {
    std::size_t operator()(const Node& node) const noexcept {
      return mix((std::uint64_t{node.caller.value} << 32) | node.location.value);
    }
  };

  std::mutex mutex_;  // of those who add
  Numbered<CodeLocation, CodeLocationHash> locations_;
  Numbered<Node, NodeHash> nodes_;  // lists only those that do not follow their callers
};

}  // namespace memtrace
