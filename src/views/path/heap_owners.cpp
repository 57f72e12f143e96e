#include "views/path/heap_owners.h"

#include <iterator>

namespace memtrace {

void HeapOwners::on(const Event& event) {
  if (const auto* call = std::get_if<HeapCall>(&event.payload)) {
    if (call->op == HeapOp::Free) {
      heap_of(event).blocks.erase(call->address);
    } else if (call->op == HeapOp::Realloc) {
      reallocated_[event.tid] = call->address;
    }
  } else if (const auto* alloc = std::get_if<HeapAlloc>(&event.payload)) {
    allocate(event, *alloc);
  }
}

void HeapOwners::allocate(const Event& event, const HeapAlloc& alloc) {
  if (alloc.address == 0) {
    return;
  }
  Blocks& blocks = heap_of(event).blocks;
  if (alloc.is_realloc) {
    blocks.erase(reallocated_[event.tid]);
  }
  blocks.insert_or_assign(alloc.address, Block{alloc.address + alloc.bytes, event.stack.id()});
}

HeapOwners::Heap& HeapOwners::heap_of(const Event& event) {
  Heap& heap = heaps_[event.pid];
  if (heap.life != event.life) {
    heap = {.blocks = {}, .life = event.life};
  }
  return heap;
}

StackId HeapOwners::owner_of(std::uint32_t pid, std::uint64_t address) const {
  const auto heap = heaps_.find(pid);
  if (heap == heaps_.end()) {
    return {};
  }
  const auto behind = heap->second.blocks.upper_bound(address);
  if (behind == heap->second.blocks.begin()) {
    return {};
  }
  const Block& block = std::prev(behind)->second;
  return address < block.end ? block.stack : StackId();
}

}  // namespace memtrace
