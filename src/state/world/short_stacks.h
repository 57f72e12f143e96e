// --depth: stacks that have their innermost frames in common are one key. What was added up for
// each of them is added up once more, so averages and percentiles are those of all.
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <unordered_map>
#include <vector>

#include "state/world/world.h"

namespace memtrace {

class ShortStacks {
 public:
  explicit ShortStacks(std::size_t depth) : depth_(depth) {}

  // The first stack that was asked for and begins, innermost first, with the same frames. Names are
  // cut by session/report_namer.h.
  StackId same_as(const StackTable& stacks, StackId stack) {
    const auto [known, is_new] = known_.try_emplace(stack);
    if (is_new) {
      std::vector<LocationId> frames = stacks.locations(stack);
      frames.resize(std::min(frames.size(), depth_));
      known->second = first_.try_emplace(std::move(frames), stack).first->second;
    }
    return known->second;
  }

 private:
  std::size_t depth_ = 0;
  std::unordered_map<StackId, StackId> known_;
  std::map<std::vector<LocationId>, StackId> first_;
};

}  // namespace memtrace
