#include "state/heap/mapped_blocks.h"

#include <algorithm>
#include <utility>

namespace memtrace {

MappedBlocks::Pieces MappedBlocks::map(const LiveBlock& block) {
  Pieces covered = unmap(block.pid, block.key, block.key + block.bytes);
  Space& space = spaces_[block.pid];
  const std::uint32_t number = space.next++;
  space.areas.assign(block.key, block.key + block.bytes, number);
  space.blocks.emplace(number, block);
  return covered;
}

MappedBlocks::Pieces MappedBlocks::unmap(std::uint32_t pid,
                                         std::uint64_t start,
                                         std::uint64_t limit) {
  const auto found = spaces_.find(pid);
  if (found == spaces_.end() || start >= limit) {
    return {};
  }
  Space& space = found->second;
  std::map<std::uint32_t, std::uint64_t> bytes_of;  // by number of the block
  const auto& entries = space.areas.entries();
  auto entry = entries.upper_bound(start);
  if (entry != entries.begin()) {
    --entry;
  }
  for (; entry != entries.end() && entry->second.start < limit; ++entry) {
    const std::uint64_t from = std::max(entry->second.start, start);
    const std::uint64_t to = std::min(entry->second.limit, limit);
    if (from < to) {
      bytes_of[entry->second.value] += to - from;
    }
  }
  space.areas.erase(start, limit);
  Pieces pieces;
  for (const auto& [number, bytes] : bytes_of) {
    LiveBlock& block = space.blocks.at(number);
    block.bytes -= bytes;
    Piece& piece = pieces.emplace_back(Piece{.block = block, .is_last = block.bytes == 0});
    piece.block.bytes = bytes;
    if (piece.is_last) {
      space.blocks.erase(number);
    }
  }
  return pieces;
}

bool MappedBlocks::is_known(std::uint32_t pid, std::uint64_t avma) const {
  const auto space = spaces_.find(pid);
  return space != spaces_.end() && space->second.areas.find(avma) != nullptr;
}

std::uint64_t MappedBlocks::move_top(std::uint32_t pid, std::uint64_t top) {
  return std::exchange(spaces_[pid].top, top);
}

// The copies are the child's, but nobody counts them as its own allocations.
void MappedBlocks::fork(std::uint32_t parent_pid, std::uint32_t pid) {
  if (const auto former = spaces_.find(pid); former != spaces_.end()) {
    ended_.push_back(std::move(former->second));
    spaces_.erase(former);
  }
  const auto parent = spaces_.find(parent_pid);
  if (parent == spaces_.end()) {
    return;
  }
  Space copy = parent->second;
  for (auto& [number, block] : copy.blocks) {
    block.pid = pid;
    block.is_inherited = true;
  }
  spaces_[pid] = std::move(copy);
}

void MappedBlocks::exec(std::uint32_t pid) {
  spaces_.erase(pid);
}

}  // namespace memtrace
