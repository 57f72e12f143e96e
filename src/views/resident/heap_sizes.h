// Live bytes of the heap of each process, where allocators were probed as well.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "base/hash_map.h"
#include "base/ids.h"
#include "tracepoints/event/event.h"

namespace memtrace {

class HeapSizes {
 public:
  void on(const Event& event);

  // False: no allocation was seen at all.
  bool any() const { return !live_.empty(); }

  // Of blocks that were allocated in the recording and not freed; nothing for a process without.
  std::optional<std::uint64_t> live_bytes(std::uint32_t pid) const;

 private:
  using Blocks = HashMap<std::uint64_t, std::uint64_t>;  // bytes by address

  struct Heap {
    Blocks blocks;
    std::uint64_t bytes = 0;
    LifeId life;  // execve(2) gives all back
  };

  static void take(Heap& heap, std::uint64_t address);
  Heap& heap_of(const Event& event);

  std::map<std::uint32_t, Heap> live_;                 // by pid
  HashMap<std::uint32_t, std::uint64_t> reallocated_;  // by tid: a block given to realloc(3)
};

}  // namespace memtrace
