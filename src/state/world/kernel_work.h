// Pairs begins and ends of the kernel's work on memory, thread by thread. Works nest: slab caches
// are shrunk inside of a reclaim, pages migrate inside of a compaction.
//
//   memcg reclaim   ├─────────────────────────┤      Work{MemcgReclaim}
//   slab shrinking       ├────┤  ├──┤                Work{SlabShrink, within MemcgReclaim}
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "tracepoints/event/event.h"

namespace memtrace {

class KernelWork {
 public:
  struct Open {
    WorkBegin begin;
    std::uint64_t begun_ns = 0;
    std::uint32_t pid = 0;
    StringId comm;
    std::uint64_t migrated = 0;
    std::uint64_t put_back = 0;
    std::uint64_t failed = 0;
  };

  void begin(const Event& event, const WorkBegin& begin);
  Work end(const Event& event, const WorkEnd& end);

  // The goal of the thread's compaction, or of the one that it is about to begin.
  void note(std::uint32_t tid, const CompactionGoal& goal);
  void note(std::uint32_t tid, const CompactionTry& attempt);
  void note(std::uint32_t tid, const CompactionMoved& moved);

  // The innermost reclaim that the thread is in; Other when there is none.
  WorkKind reclaim_of(std::uint32_t tid) const;

  // Whether the thread moves pages: what it frees then is where they were before.
  bool is_compacting(std::uint32_t tid) const;

  void forget(std::uint32_t tid);

  // Events are missing: works that have begun may have ended.
  void forget_all();

  // By tid: what has begun and not ended, outermost first.
  const std::unordered_map<std::uint32_t, std::vector<Open>>& open() const { return open_; }

  // Begins whose end was never seen, because the thread exited or something around it ended.
  std::uint64_t abandoned(WorkKind kind) const {
    return abandoned_[static_cast<std::size_t>(kind)];
  }

 private:
  void take_announced(std::uint32_t tid, WorkBegin& begin);
  void abandon(std::span<const Open> works);
  Open* innermost_compaction(std::uint32_t tid);
  void note_migration(std::uint32_t tid, const WorkEnd& end);

  // What an allocation, and then the check of each zone, said before a compaction.
  struct Announced {
    CompactionTry attempt;
    CompactionGoal goal;
  };

  std::unordered_map<std::uint32_t, std::vector<Open>> open_;
  std::unordered_map<std::uint32_t, Announced> announced_;
  std::array<std::uint64_t, kWorkKinds> abandoned_{};
};

}  // namespace memtrace
