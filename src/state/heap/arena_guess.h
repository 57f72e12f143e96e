// glibc's arenas and heaps guessed from system calls, for a libc without static probes: its malloc
// (malloc/arena.c, new_heap) reserves heaps of 64 MiB at multiples of 64 MiB and makes them usable
// piece by piece.
//
//   mmap 128 MiB PROT_NONE   |......................................|
//   munmap around it             |64 MiB at a multiple........|
//   mprotect RW at its start     |xxxx........................|    a new heap
//   mprotect RW behind that      |xxxxxxxx....................|    has grown
//   madvise or mmap PROT_NONE    |xx..........................|    has shrunk
//   munmap                                                         is free
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <unordered_map>
#include <vector>

#include "state/mapping/map_call.h"
#include "tracepoints/event/event.h"

namespace memtrace {

inline constexpr std::uint64_t kArenaHeapBytes = 64U << 20U;  // HEAP_MAX_SIZE of 64-bit programs

class ArenaGuess {
 public:
  // The events that this change of a thread's address space implies, in the order and the terms of
  // the probes. An arena goes by the address of its first heap. A thread's first heap begins an
  // arena, unless the thread was seen to use one that another had made.
  std::vector<ArenaEvent> apply(std::uint32_t tid, const Map& map);

 private:
  std::vector<ArenaEvent> protect(std::uint32_t tid, const MapCall& call);
  std::vector<ArenaEvent> shrink(std::uint64_t start, std::uint64_t bytes);
  std::vector<ArenaEvent> unmap(std::uint64_t start, std::uint64_t bytes);
  std::vector<ArenaEvent> move_top(std::uint64_t top);
  void reserve(std::uint64_t start, std::uint64_t bytes);

  struct Heap {
    std::uint64_t arena = 0;
    std::uint64_t bytes = 0;
  };

  std::set<std::uint64_t> reserved_;
  std::map<std::uint64_t, Heap> heaps_;  // by address
  std::unordered_map<std::uint32_t, std::uint64_t> arena_of_thread_;
  std::uint64_t top_ = 0;
};

}  // namespace memtrace
