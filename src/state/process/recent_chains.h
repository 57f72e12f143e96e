// The user parts of callchains that were met lately, with the stack of each frame. Calls of one
// thread that follow each other share most of their outer frames: only the inner ones that differ
// need to be looked up.
//
//   before   malloc  parse  read  main  _start          stacks 5 4 3 2 1
//   now      free    walk   read  main  _start          read, main, _start: stack 3
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/hash.h"
#include "base/ids.h"

namespace memtrace {

class RecentChains {
 public:
  // Innermost first. All frames are places in code: stacks[i] is that of addresses[i] and the
  // frames outside of it.
  struct Chain {
    std::uint64_t space = 0;  // in which the addresses mean what they did
    std::vector<std::uint64_t> addresses;
    std::vector<StackId> stacks;

    // How many outer frames are the same. The innermost one is an instruction and all others are
    // return addresses: it is shared with none.
    std::size_t shared_with(std::uint64_t other_space, std::span<const std::uint64_t> other) const {
      const std::size_t most = std::min(addresses.size(), other.size());
      std::size_t shared = 0;
      while (space == other_space && shared + 1 < most &&
             addresses[addresses.size() - 1 - shared] == other[other.size() - 1 - shared]) {
        ++shared;
      }
      return shared;
    }

    StackId outer(std::size_t frames) const {
      return frames == 0 ? StackId() : stacks[stacks.size() - frames];
    }
  };

  // The one that a chain may share frames with, to be replaced by it. Stacks that were followed by
  // frame pointers and unwound ones of one process end differently.
  Chain& like(std::uint64_t space, std::span<const std::uint64_t> addresses) {
    return chains_[combine(space, addresses.back()) >> (64U - kSlotBits)];
  }

 private:
  static constexpr unsigned kSlotBits = 8;

  std::vector<Chain> chains_ = std::vector<Chain>(std::size_t{1} << kSlotBits);
};

}  // namespace memtrace
