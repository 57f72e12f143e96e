// All mappings of one address space, changed as the kernel changes it: a range that is mapped cuts
// away what was there.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/interval_map.h"
#include "state/mapping/memory_area.h"

namespace memtrace {

class MemoryMap {
 public:
  struct Range {
    std::uint64_t start = 0;
    std::uint64_t limit = 0;
  };

  using Entry = IntervalMap<MemoryArea>::Entry;

  void map(Range range, const MemoryArea& area) { areas_.assign(range.start, range.limit, area); }

  // Only where nothing is mapped.
  void fill(Range range, const MemoryArea& area);

  // All of the range but what lies in `kept`.
  void unmap(Range range, std::span<const Range> kept = {});

  // mremap(2), after it succeeded.
  struct Move {
    Range from;
    Range to;
    bool keep_old = false;             // MREMAP_DONTUNMAP, or a second mapping of shared pages
    std::span<const Range> kept = {};  // of `from`: mapped anew during the call
  };

  void move(const Move& move);

  void protect(Range range, std::uint32_t protection);

  // brk(2): the heap ends here.
  void cut_heap(std::uint64_t limit);

  // Where the heap ends; 0 without one.
  std::uint64_t heap_limit() const;

  // shmdt(2): the segment that is attached at this address, whatever is left of it.
  void detach(std::uint64_t start);

  // Null where nothing is mapped; valid until the next change.
  const Entry* find(std::uint64_t avma) const { return areas_.find(avma); }

  const IntervalMap<MemoryArea>& areas() const { return areas_; }

 private:
  std::vector<Entry> entries_in(Range range) const;

  IntervalMap<MemoryArea> areas_;
};

}  // namespace memtrace
