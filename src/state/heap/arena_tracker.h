// The arenas of one process's malloc as of the last ArenaEvent: who made them, who uses them, the
// heaps that they consist of.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "base/ids.h"
#include "tracepoints/event/event.h"

namespace memtrace {

// The thread that did something to an arena.
struct ArenaTask {
  std::uint32_t tid = 0;
  StringId comm;
};

struct Arena {
  ArenaTask maker;
  std::uint64_t waits = 0;   // of threads, for this arena
  std::uint64_t reuses = 0;  // by threads that had another one, or none
};

struct ArenaHeap {
  std::uint64_t arena = 0;  // 0: not known
  ArenaTask maker;
  std::uint64_t bytes = 0;
  std::uint64_t peak_bytes = 0;
  std::uint64_t grown = 0;   // how often
  std::uint64_t shrunk = 0;  // how often
};

struct ArenaUser {
  StringId comm;
  std::uint64_t arena = 0;  // 0: not known
  std::uint64_t waits = 0;
  std::uint64_t retries = 0;
};

class ArenaTracker {
 public:
  struct Counts {
    std::uint64_t heaps_new = 0;
    std::uint64_t heaps_freed = 0;
    std::uint64_t sbrk_more_bytes = 0;
    std::uint64_t sbrk_less_bytes = 0;
    std::optional<std::uint64_t> mmap_threshold_bytes;
    std::optional<std::uint64_t> trim_threshold_bytes;
  };

  void apply(const ArenaTask& task, const ArenaEvent& event);

  // By address; by tid.
  const std::map<std::uint64_t, Arena>& arenas() const { return arenas_; }

  const std::map<std::uint64_t, ArenaHeap>& heaps() const { return heaps_; }

  const std::map<std::uint32_t, ArenaUser>& users() const { return users_; }

  const Counts& counts() const { return counts_; }

 private:
  void apply_to_arena(const ArenaTask& task, const ArenaEvent& event);
  void apply_to_heap(const ArenaTask& task, const ArenaEvent& event);
  void resize(const ArenaTask& task, const ArenaEvent& event, std::uint64_t ArenaHeap::*count);
  ArenaUser& user(const ArenaTask& task);

  std::map<std::uint64_t, Arena> arenas_;
  std::map<std::uint64_t, ArenaHeap> heaps_;
  std::map<std::uint32_t, ArenaUser> users_;
  Counts counts_;
};

}  // namespace memtrace
