// What the unwinder of the merging thread has learnt, for the threads that empty the rings: each
// has a table of its own and catches up with this log, so that no look-up takes a lock.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "unwind/rule_table.h"

namespace memtrace {

class SharedRules {
 public:
  struct Rule {
    std::uint64_t space = 0;
    std::uint64_t avma = 0;
    CodePlace place;
  };

  // The space that a process was last seen with; it may have another one by now.
  struct Space {
    std::uint32_t pid = 0;
    std::uint64_t space = 0;
  };

  // How far somebody has read.
  struct Position {
    std::uint64_t version = 0;
    std::uint64_t epoch = 0;
    std::size_t rules = 0;
    std::size_t spaces = 0;
  };

  struct News {
    std::vector<Rule> rules;
    std::vector<Space> spaces;
  };

  // For the one thread that learns.
  void add(const Rule& rule);
  void enter(Space entered);

  // For the others. has_news() costs next to nothing.
  bool has_news(const Position& position) const {
    return version_.load(std::memory_order_acquire) != position.version;
  }

  News read(Position& position) const;

 private:
  static constexpr std::size_t kMaxRules = std::size_t{1} << 20U;  // 32 MiB; then it starts again

  std::unordered_map<std::uint32_t, std::uint64_t> entered_;  // of the thread that learns

  mutable std::mutex mutex_;  // guards all below
  std::atomic<std::uint64_t> version_ = 0;
  std::uint64_t epoch_ = 0;
  std::vector<Rule> rules_;
  std::vector<Space> spaces_;
};

}  // namespace memtrace
