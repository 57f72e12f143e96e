// Blocks of user heaps that are allocated and not freed, process by process: addresses mean
// something only in one address space. Pids are those of records.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <unordered_map>
#include <vector>

#include "state/heap/block_table.h"
#include "state/heap/live_block.h"

namespace memtrace {

class HeapBlocks {
 public:
  // An address that is allocated again replaces the old block, which is the result: its free was
  // not seen.
  std::optional<LiveBlock> allocate(const LiveBlock& block);

  // Takes the block away; nothing when it is not known.
  std::optional<LiveBlock> take(std::uint32_t pid, std::uint64_t address);

  // The child has copies of all its parent's blocks. They are made when one of the two touches its
  // heap: most children call execve(2) before.
  void fork(std::uint32_t parent_pid, std::uint32_t pid);
  // execve(2): the old address space is gone, and what was in it.
  void exec(std::uint32_t pid);

  // Every block of every process, ended ones too: what they had not freed when they ended.
  template <typename Visitor>
  void for_each(Visitor visit) const {
    make_all_copies();
    for (const BlockTable& blocks : ended_) {
      blocks.for_each(visit);
    }
    for (const auto& [pid, heap] : heaps_) {
      heap.blocks.for_each(visit);
    }
  }

 private:
  // Of allocators: blocks of malloc(3) are at least 32 bytes apart on 64-bit machines, by its
  // MINSIZE in malloc/malloc.c of glibc.
  static constexpr unsigned kSpacing = 5;

  struct Heap {
    BlockTable blocks{kSpacing};
    std::optional<std::uint32_t> copy_of;   // a parent whose blocks are still to be copied
    std::vector<std::uint32_t> copies_due;  // children that wait for copies of this heap
  };

  Heap& own_heap(std::uint32_t pid);
  void copy_from_parent(std::uint32_t pid, Heap& heap) const;
  void make_all_copies() const;
  void detach(std::uint32_t pid);

  mutable std::unordered_map<std::uint32_t, Heap> heaps_;  // a copy due changes no meaning
  std::deque<BlockTable> ended_;                           // of pids that were used again
};

}  // namespace memtrace
