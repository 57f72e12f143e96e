#include "state/heap/kernel_blocks.h"

#include <utility>

namespace memtrace {
namespace {

BlockKind kind_of(const SlabAlloc& alloc) {
  if (alloc.cache == kPercpuCache) {
    return BlockKind::PerCpu;
  }
  return alloc.kmalloc ? BlockKind::Kmalloc : BlockKind::Cache;
}

}  // namespace

void KernelBlocks::apply(Event& event, const SlabAlloc& alloc) {
  if (alloc.ptr == 0) {
    return;
  }
  LiveBlock block = block_of(event);
  block.kind = kind_of(alloc);
  block.key = alloc.ptr;
  block.bytes = alloc.bytes_alloc;
  block.bytes_req = alloc.bytes_req;
  block.gfp = alloc.gfp;
  make_live(event, block);
}

// kfree(NULL) is traced too: the tracepoint stands before the test (mm/slub.c).
void KernelBlocks::apply(Event& event, const SlabFree& free) {
  if (free.ptr != 0) {
    note_freed(event, live_.free_slab(free.ptr));
  }
}

void KernelBlocks::apply(Event& event, const PageAlloc& alloc) {
  if (alloc.failed) {
    return;
  }
  LiveBlock block = block_of(event);
  block.kind = BlockKind::Page;
  block.key = alloc.page;
  block.order = alloc.order;
  block.bytes = page_size_bytes_ << alloc.order;
  block.bytes_req = block.bytes;
  block.gfp = alloc.gfp;
  block.migratetype = alloc.migratetype;
  make_live(event, block);
}

void KernelBlocks::apply(Event& event, const PageFree& free) {
  note_freed(event, live_.free_pages(free));
}

void KernelBlocks::make_live(Event& event, const LiveBlock& block) {
  replaced_ = live_.allocate(block);
  event.replaced = replaced_ ? &*replaced_ : nullptr;
}

void KernelBlocks::note_freed(Event& event, std::optional<LiveBlock> block) {
  if (!block) {
    ++unmatched_frees_;
    return;
  }
  freed_ = block;
  event.freed = &*freed_;
}

}  // namespace memtrace
