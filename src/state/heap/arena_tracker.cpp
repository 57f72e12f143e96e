#include "state/heap/arena_tracker.h"

#include <algorithm>
#include <iterator>

#include "state/heap/arena_guess.h"

namespace memtrace {

ArenaUser& ArenaTracker::user(const ArenaTask& task) {
  ArenaUser& user = users_[task.tid];
  user.comm = task.comm;
  return user;
}

void ArenaTracker::apply(const ArenaTask& task, const ArenaEvent& event) {
  switch (event.op) {
    case ArenaOp::HeapNew:
    case ArenaOp::HeapMore:
    case ArenaOp::HeapLess:
    case ArenaOp::HeapFree:
      apply_to_heap(task, event);
      break;
    case ArenaOp::SbrkMore:
      counts_.sbrk_more_bytes += event.bytes;
      break;
    case ArenaOp::SbrkLess:
      counts_.sbrk_less_bytes += event.bytes;
      break;
    case ArenaOp::Thresholds:
      counts_.mmap_threshold_bytes =
          event.mmap_threshold_bytes ? event.mmap_threshold_bytes : counts_.mmap_threshold_bytes;
      counts_.trim_threshold_bytes =
          event.trim_threshold_bytes ? event.trim_threshold_bytes : counts_.trim_threshold_bytes;
      break;
    default:
      apply_to_arena(task, event);
      break;
  }
}

void ArenaTracker::apply_to_arena(const ArenaTask& task, const ArenaEvent& event) {
  switch (event.op) {
    case ArenaOp::ArenaNew:
      arenas_[event.address] = {.maker = task};
      user(task).arena = event.address;
      // An arena lies in its first heap, which was made just before it (malloc/arena.c).
      if (auto after = heaps_.upper_bound(event.address); after != heaps_.begin()) {
        const auto heap = std::prev(after);
        const bool is_inside = event.address - heap->first < kArenaHeapBytes;
        heap->second.arena = is_inside ? event.address : heap->second.arena;
      }
      break;
    case ArenaOp::ArenaReuse:
    case ArenaOp::ArenaReuseFreeList:
      user(task).arena = event.address;
      ++arenas_[event.address].reuses;
      break;
    case ArenaOp::ArenaWait:
      ++user(task).waits;
      ++arenas_[event.address].waits;
      break;
    case ArenaOp::ArenaRetry:
    case ArenaOp::Retry:
      ++user(task).retries;
      break;
    default:
      break;
  }
}

void ArenaTracker::apply_to_heap(const ArenaTask& task, const ArenaEvent& event) {
  switch (event.op) {
    case ArenaOp::HeapNew:
      ++counts_.heaps_new;
      heaps_[event.address] = {.arena = user(task).arena,
                               .maker = task,
                               .bytes = event.bytes,
                               .peak_bytes = event.bytes};
      break;
    case ArenaOp::HeapMore:
      resize(task, event, &ArenaHeap::grown);
      break;
    case ArenaOp::HeapLess:
      resize(task, event, &ArenaHeap::shrunk);
      break;
    default:
      ++counts_.heaps_freed;
      heaps_.erase(event.address);
      break;
  }
}

// It is not known who made a heap that existed before the recording.
void ArenaTracker::resize(const ArenaTask& task,
                          const ArenaEvent& event,
                          std::uint64_t ArenaHeap::*count) {
  const auto [heap, is_unknown] = heaps_.try_emplace(event.address);
  if (is_unknown) {
    heap->second.arena = user(task).arena;
  }
  heap->second.bytes = event.bytes;
  heap->second.peak_bytes = std::max(heap->second.peak_bytes, event.bytes);
  ++(heap->second.*count);
}

}  // namespace memtrace
