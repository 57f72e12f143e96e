// The last callchain of each of the processes that ran lately, frame by frame. A process's next
// chain has most of its outer frames in common with it, and these need not be looked up again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/ids.h"

namespace memtrace {

// One entry of a callchain.
struct ChainFrame {
  std::uint64_t avma = 0;
  bool user = false;
  bool is_return_address = false;

  friend bool operator==(const ChainFrame&, const ChainFrame&) = default;
};

// Outermost first. A frame's stack is made of it and of all frames before it.
class RecentChain {
 public:
  // How many outermost frames the chain has in common with this one, of the same address space. It
  // forgets the others.
  std::size_t keep_common(std::uint64_t space, std::span<const ChainFrame> innermost_first) {
    std::size_t common = 0;
    if (space == space_) {
      const std::size_t most =
          frames_.size() < innermost_first.size() ? frames_.size() : innermost_first.size();
      while (common < most &&
             frames_[common] == innermost_first[innermost_first.size() - 1 - common]) {
        ++common;
      }
    }
    space_ = space;
    frames_.resize(common);
    stacks_.resize(common);
    return common;
  }

  // The stack of all frames; none without a frame.
  StackId stack() const { return stacks_.empty() ? StackId() : stacks_.back(); }

  void add(const ChainFrame& frame, StackId stack) {
    frames_.push_back(frame);
    stacks_.push_back(stack);
  }

 private:
  std::uint64_t space_ = 0;
  std::vector<ChainFrame> frames_;
  std::vector<StackId> stacks_;
};

class RecentChains {
 public:
  static constexpr unsigned kSlotBits = 8;

  // `space` is a hash. Spaces may take turns in one place.
  RecentChain& of(std::uint64_t space) { return chains_[space >> (64U - kSlotBits)]; }

 private:
  std::vector<RecentChain> chains_ = std::vector<RecentChain>(std::size_t{1} << kSlotBits);
};

}  // namespace memtrace
