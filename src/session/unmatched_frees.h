// Frees of blocks whose allocation was not seen, by the event that freed them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace memtrace {

class UnmatchedFrees {
 public:
  // How many the last event was: `all` is World::unmatched_frees() after it. For every event.
  std::uint64_t take_new(std::uint64_t all) {
    const std::uint64_t added = all - seen_;
    seen_ = all;
    return added;
  }

  // Those of a wanted task; `event` is EventType::index.
  void count(std::size_t event, std::uint64_t frees) {
    if (frees != 0) {
      by_event_.resize(std::max(by_event_.size(), event + 1));
      by_event_[event] += frees;
    }
  }

  // Of this interval.
  const std::vector<std::uint64_t>& by_event() const { return by_event_; }

  void next_interval() { by_event_.clear(); }

 private:
  std::uint64_t seen_ = 0;
  std::vector<std::uint64_t> by_event_;
};

}  // namespace memtrace
