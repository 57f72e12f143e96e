// Anonymous memory that programs map themselves, by mmap(2), mremap(2) and sbrk(3), as blocks of
// the heap: what is left of each, when pieces of it were unmapped or mapped over.
//
//   mmap     |aaaaaaaaaaaa|          block a
//   munmap   |aaaa|    |aa|          still one block, of fewer bytes
//   mmap     |aaaa|bbbb|aa|          MAP_FIXED into the hole: another block
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <unordered_map>
#include <vector>

#include "base/interval_map.h"
#include "state/heap/live_block.h"

namespace memtrace {

class MappedBlocks {
 public:
  // What a call gave back of one block.
  struct Piece {
    LiveBlock block;  // its bytes are those of the piece
    bool is_last = false;
  };

  using Pieces = std::vector<Piece>;

  // `block` is at [key, key + bytes) from now on: the result is what it covers of others.
  Pieces map(const LiveBlock& block);
  Pieces unmap(std::uint32_t pid, std::uint64_t start, std::uint64_t limit);

  bool is_known(std::uint32_t pid, std::uint64_t avma) const;

  // The end of brk's heap moved there: where it was before, 0 when that is not known.
  std::uint64_t move_top(std::uint32_t pid, std::uint64_t top);

  void fork(std::uint32_t parent_pid, std::uint32_t pid);
  void exec(std::uint32_t pid);

  // Every block once, with the bytes that are left of it.
  template <typename Visitor>
  void for_each(Visitor visit) const {
    for (const Space& space : ended_) {
      visit_blocks(space, visit);
    }
    for (const auto& [pid, space] : spaces_) {
      visit_blocks(space, visit);
    }
  }

 private:
  struct Space {
    IntervalMap<std::uint32_t> areas;           // to numbers in blocks
    std::map<std::uint32_t, LiveBlock> blocks;  // bytes: what is left
    std::uint32_t next = 0;
    std::uint64_t top = 0;
  };

  template <typename Visitor>
  static void visit_blocks(const Space& space, Visitor visit) {
    for (const auto& [number, block] : space.blocks) {
      visit(block);
    }
  }

  std::unordered_map<std::uint32_t, Space> spaces_;
  std::deque<Space> ended_;  // of pids that were used again
};

}  // namespace memtrace
