// Whose call to an allocator made the block that an address is in, where the heap was recorded.
#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>

#include "base/hash_map.h"
#include "base/ids.h"
#include "tracepoints/event/event.h"

namespace memtrace {

class HeapOwners {
 public:
  // Calls of allocators, their returns and frees; of other events nothing changes.
  void on(const Event& event);

  // The stack of the call; an invalid one if no known block has the address.
  StackId owner_of(std::uint32_t pid, std::uint64_t address) const;

 private:
  struct Block {
    std::uint64_t end = 0;
    StackId stack;
  };

  using Blocks = std::map<std::uint64_t, Block>;  // by first address

  struct Heap {
    Blocks blocks;
    LifeId life;  // execve(2) gives all back
  };

  void allocate(const Event& event, const HeapAlloc& alloc);
  Heap& heap_of(const Event& event);

  std::unordered_map<std::uint32_t, Heap> heaps_;      // by pid
  HashMap<std::uint32_t, std::uint64_t> reallocated_;  // by tid: a block given to realloc(3)
};

}  // namespace memtrace
