// Blocks of the kernel's allocators: what is live, and what an event freed or replaced.
#pragma once

#include <cstdint>
#include <optional>

#include "state/heap/live_blocks.h"
#include "tracepoints/event/event.h"

namespace memtrace {

class KernelBlocks {
 public:
  explicit KernelBlocks(std::uint64_t page_size_bytes)
      : page_size_bytes_(page_size_bytes), live_(page_size_bytes) {}

  const LiveBlocks& live() const { return live_; }

  // They set the event's `freed` and `replaced`, which are good until the next of these calls.
  void apply(Event& event, const SlabAlloc& alloc);
  void apply(Event& event, const SlabFree& free);
  void apply(Event& event, const PageAlloc& alloc);
  void apply(Event& event, const PageFree& free);

  // Frees of blocks that were allocated before the recording began.
  std::uint64_t unmatched_frees() const { return unmatched_frees_; }

 private:
  void make_live(Event& event, const LiveBlock& block);
  void note_freed(Event& event, std::optional<LiveBlock> block);

  std::uint64_t page_size_bytes_;
  LiveBlocks live_;
  std::optional<LiveBlock> freed_;
  std::optional<LiveBlock> replaced_;
  std::uint64_t unmatched_frees_ = 0;
};

}  // namespace memtrace
