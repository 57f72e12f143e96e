#include "state/heap/heap_blocks.h"

#include <utility>

namespace memtrace {

// The heap of a process, fit to be changed: no copy of or for another is outstanding.
HeapBlocks::Heap& HeapBlocks::own_heap(std::uint32_t pid) {
  Heap& heap = heaps_[pid];  // references into an unordered_map stay valid
  if (heap.copy_of) {
    copy_from_parent(pid, heap);
  }
  for (const std::uint32_t child : std::exchange(heap.copies_due, {})) {
    copy_from_parent(child, heaps_[child]);
  }
  return heap;
}

void HeapBlocks::copy_from_parent(std::uint32_t pid, Heap& heap) const {
  const std::uint32_t parent_pid = *std::exchange(heap.copy_of, std::nullopt);
  Heap& parent = heaps_[parent_pid];
  if (parent.copy_of) {
    copy_from_parent(parent_pid, parent);
  }
  std::erase(parent.copies_due, pid);
  heap.blocks = parent.blocks;
  heap.blocks.change_each([pid](LiveBlock& block) {
    block.is_inherited = true;
    block.pid = pid;
  });
}

void HeapBlocks::make_all_copies() const {
  for (auto& [pid, heap] : heaps_) {
    if (heap.copy_of) {
      copy_from_parent(pid, heap);
    }
  }
}

std::optional<LiveBlock> HeapBlocks::allocate(const LiveBlock& block) {
  return own_heap(block.pid).blocks.put(block);
}

std::optional<LiveBlock> HeapBlocks::take(std::uint32_t pid, std::uint64_t address) {
  return own_heap(pid).blocks.take(address);
}

// Nobody waits for this process's copy, and it waits for none.
void HeapBlocks::detach(std::uint32_t pid) {
  const auto found = heaps_.find(pid);
  if (found == heaps_.end()) {
    return;
  }
  Heap& heap = found->second;
  if (heap.copy_of) {
    std::erase(heaps_[*heap.copy_of].copies_due, pid);
    heap.copy_of.reset();
  }
  for (const std::uint32_t child : std::exchange(heap.copies_due, {})) {
    copy_from_parent(child, heaps_[child]);
  }
}

void HeapBlocks::fork(std::uint32_t parent_pid, std::uint32_t pid) {
  detach(pid);
  const auto former = heaps_.find(pid);
  if (former != heaps_.end() && !former->second.blocks.empty()) {
    ended_.push_back(std::move(former->second.blocks));
  }
  heaps_.erase(pid);
  const auto parent = heaps_.find(parent_pid);
  if (parent == heaps_.end()) {
    return;
  }
  parent->second.copies_due.push_back(pid);
  heaps_[pid].copy_of = parent_pid;
}

void HeapBlocks::exec(std::uint32_t pid) {
  detach(pid);
  heaps_.erase(pid);
}

}  // namespace memtrace
