#include "state/heap/arena_guess.h"

#include "state/mapping/map_flags.h"

namespace memtrace {
namespace {

std::uint64_t heap_of(std::uint64_t address) {
  return address / kArenaHeapBytes * kArenaHeapBytes;
}

}  // namespace

std::vector<ArenaEvent> ArenaGuess::apply(std::uint32_t tid, const Map& map) {
  const MapCall& call = map.call;
  switch (call.op) {
    case MapOp::Map:
      if (call.protection != 0 || (call.flags & kMapAnonymous) == 0) {
        return {};
      }
      if ((call.flags & kMapFixed) != 0) {
        return shrink(map.result, call.bytes);  // of programs that run setuid: shrink_heap
      }
      if ((call.flags & kMapNoReserve) != 0) {
        reserve(map.result, call.bytes);
      }
      return {};
    case MapOp::Unmap:
      return unmap(call.address, call.bytes);
    case MapOp::Protect:
      return protect(tid, call);
    case MapOp::Advise:
      return call.flags == kAdviseDontNeed ? shrink(call.address, call.bytes)
                                           : std::vector<ArenaEvent>();
    case MapOp::Break:
      return move_top(map.result);
    case MapOp::Remap:
      return {};
  }
  return {};
}

// Twice the size is mapped, so that a multiple of it is inside; or, behind the last heap, once.
void ArenaGuess::reserve(std::uint64_t start, std::uint64_t bytes) {
  const std::uint64_t first = heap_of(start + kArenaHeapBytes - 1);
  const bool has_size = bytes == kArenaHeapBytes || bytes == 2 * kArenaHeapBytes;
  if (has_size && first + kArenaHeapBytes <= start + bytes) {
    reserved_.insert(first);
  }
}

std::vector<ArenaEvent> ArenaGuess::protect(std::uint32_t tid, const MapCall& call) {
  const std::uint64_t address = heap_of(call.address);
  const std::uint64_t bytes = call.address + call.bytes - address;
  if ((call.protection & kProtectWrite) == 0) {
    return {};
  }
  if (reserved_.erase(call.address) != 0) {
    const auto [own, is_new_arena] = arena_of_thread_.try_emplace(tid, address);
    heaps_[address] = {.arena = own->second, .bytes = bytes};
    std::vector<ArenaEvent> events{{.op = ArenaOp::HeapNew, .address = address, .bytes = bytes}};
    if (is_new_arena) {
      events.push_back({.op = ArenaOp::ArenaNew, .address = address});
    }
    return events;
  }
  const auto heap = heaps_.find(address);
  if (heap == heaps_.end() || bytes <= heap->second.bytes) {
    return {};
  }
  heap->second.bytes = bytes;
  std::vector<ArenaEvent> events;
  const auto [own, is_first] = arena_of_thread_.try_emplace(tid, heap->second.arena);
  if (is_first || own->second != heap->second.arena) {
    own->second = heap->second.arena;
    events.push_back({.op = ArenaOp::ArenaReuse, .address = own->second});
  }
  events.push_back({.op = ArenaOp::HeapMore, .address = address, .bytes = bytes});
  return events;
}

std::vector<ArenaEvent> ArenaGuess::shrink(std::uint64_t start, std::uint64_t bytes) {
  const auto heap = heaps_.find(heap_of(start));
  const bool is_tail = heap != heaps_.end() && start > heap->first &&
                       start < heap->first + heap->second.bytes &&
                       start + bytes >= heap->first + heap->second.bytes;
  if (!is_tail) {
    return {};
  }
  heap->second.bytes = start - heap->first;
  return {{.op = ArenaOp::HeapLess, .address = heap->first, .bytes = heap->second.bytes}};
}

std::vector<ArenaEvent> ArenaGuess::unmap(std::uint64_t start, std::uint64_t bytes) {
  std::vector<ArenaEvent> events;
  const auto is_covered = [start, bytes](std::uint64_t heap) {
    return heap >= start && heap + kArenaHeapBytes <= start + bytes;
  };
  std::erase_if(reserved_, is_covered);
  for (auto heap = heaps_.lower_bound(start); heap != heaps_.end() && is_covered(heap->first);) {
    events.push_back(
        {.op = ArenaOp::HeapFree, .address = heap->first, .bytes = heap->second.bytes});
    heap = heaps_.erase(heap);
  }
  return events;
}

// brk(0), which asks for the top, moves nothing.
std::vector<ArenaEvent> ArenaGuess::move_top(std::uint64_t top) {
  const std::uint64_t old = top_;
  top_ = top;
  if (old == 0 || old == top) {
    return {};
  }
  return top > old ? std::vector<ArenaEvent>{{.op = ArenaOp::SbrkMore,
                                              .address = old,
                                              .bytes = top - old}}
                   : std::vector<ArenaEvent>{
                         {.op = ArenaOp::SbrkLess, .address = top, .bytes = old - top}};
}

}  // namespace memtrace
