// Stacks with names, of which a few are kept: the same stack is asked for several times in a row,
// and a name is many times as large as an id. A live view names other stacks each interval.
#pragma once

#include <cstddef>
#include <unordered_map>

#include "report/report.h"

namespace memtrace {

class NamedStacks {
 public:
  static constexpr std::size_t kMaxStacks = 256;

  // What `name` returns for `id`. Valid until the next call.
  template <typename Name>
  const Frames& of(StackId id, const Name& name) {
    const auto found = frames_.find(id);
    if (found != frames_.end()) {
      return found->second;
    }
    if (frames_.size() == kMaxStacks) {
      frames_.clear();
    }
    return frames_.emplace(id, name()).first->second;
  }

  std::size_t size() const { return frames_.size(); }

  void clear() { frames_.clear(); }

 private:
  std::unordered_map<StackId, Frames> frames_;
};

}  // namespace memtrace
