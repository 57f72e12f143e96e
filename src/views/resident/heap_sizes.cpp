#include "views/resident/heap_sizes.h"

namespace memtrace {

void HeapSizes::on(const Event& event) {
  if (const auto* call = std::get_if<HeapCall>(&event.payload)) {
    if (call->op == HeapOp::Free) {
      take(heap_of(event), call->address);
    } else if (call->op == HeapOp::Realloc) {
      reallocated_[event.tid] = call->address;
    }
    return;
  }
  const auto* alloc = std::get_if<HeapAlloc>(&event.payload);
  if (alloc == nullptr || alloc->address == 0) {
    return;
  }
  Heap& heap = heap_of(event);
  if (alloc->is_realloc) {
    take(heap, reallocated_[event.tid]);
  }
  take(heap, alloc->address);  // its free was not seen
  heap.blocks[alloc->address] = alloc->bytes * event.weight;
  heap.bytes += alloc->bytes * event.weight;
}

void HeapSizes::take(Heap& heap, std::uint64_t address) {
  if (const auto block = heap.blocks.find(address); block != heap.blocks.end()) {
    heap.bytes -= block->second;
    heap.blocks.erase(block);
  }
}

HeapSizes::Heap& HeapSizes::heap_of(const Event& event) {
  Heap& heap = live_[event.pid];
  if (heap.life != event.life) {
    heap = {.blocks = {}, .life = event.life};
  }
  return heap;
}

std::optional<std::uint64_t> HeapSizes::live_bytes(std::uint32_t pid) const {
  const auto heap = live_.find(pid);
  return heap == live_.end() ? std::nullopt : std::optional(heap->second.bytes);
}

}  // namespace memtrace
