// Anonymous memory that programs took from the kernel by mmap and brk, and gave back, since the
// recording began: what an allocator holds behind the blocks that it gave out.
//
//   mmap PROT_NONE   |................|    reserved: not counted
//   mprotect RW      |xxxxx...........|    counted
//   munmap           |  ...............    no longer
#pragma once

#include <cstdint>
#include <map>

#include "base/interval_map.h"
#include "state/mapping/map_call.h"

namespace memtrace {

class KernelMemory {
 public:
  struct Taken {
    std::uint64_t mapped_bytes = 0;  // private, anonymous and usable; without threads' stacks
    std::int64_t brk_bytes = 0;      // negative: the heap shrank below what it was at first

    std::int64_t bytes() const { return static_cast<std::int64_t>(mapped_bytes) + brk_bytes; }
  };

  void apply(std::uint32_t pid, const Map& map);

  // Its memory is gone. A forked child begins with nothing taken, either.
  void forget(std::uint32_t pid) { processes_.erase(pid); }

  // By pid, of processes that have made such system calls.
  std::map<std::uint32_t, Taken> taken() const;

  bool empty() const { return processes_.empty(); }

 private:
  struct Area {
    bool usable = false;
    bool is_stack = false;
  };

  struct Process {
    IntervalMap<Area> areas;
    std::uint64_t first_top = 0;  // of brk's heap; 0: not seen
    std::uint64_t top = 0;
  };

  static void protect(Process& process, const MapCall& call);

  std::map<std::uint32_t, Process> processes_;
};

}  // namespace memtrace
