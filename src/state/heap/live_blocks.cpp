#include "state/heap/live_blocks.h"

#include <algorithm>

namespace memtrace {
namespace {

constexpr unsigned kSlabSpacing = 6;  // smaller objects than 64 bytes are few
constexpr unsigned kPageSpacing = 0;  // page numbers; struct page has 64 bytes on old kernels

}  // namespace

LiveBlocks::LiveBlocks(std::uint64_t page_size_bytes)
    : slabs_(kSlabSpacing), pages_(kPageSpacing), page_size_bytes_(page_size_bytes) {}

std::optional<LiveBlock> LiveBlocks::allocate(const LiveBlock& block) {
  if (block.kind != BlockKind::Page) {
    return slabs_.put(block);
  }
  return put_pages(block);
}

std::optional<LiveBlock> LiveBlocks::put_pages(const LiveBlock& block) {
  auto former = pages_.put(block);
  ++live_by_order_[row_of(block.order)];
  if (former) {
    --live_by_order_[row_of(former->order)];
  }
  return former;
}

std::optional<LiveBlock> LiveBlocks::take_pages(std::uint64_t page) {
  auto taken = pages_.take(page);
  if (taken) {
    --live_by_order_[row_of(taken->order)];
  }
  return taken;
}

std::optional<LiveBlock> LiveBlocks::free_slab(std::uint64_t ptr) {
  return slabs_.take(ptr);
}

std::optional<LiveBlock> LiveBlocks::free_pages(const PageFree& free) {
  if (!free.page_is_pfn) {
    return take_pages(free.page);
  }
  const auto holder = find_holder(free);
  if (!holder) {
    return free_smaller(free);
  }
  LiveBlock part = *take_pages(*holder);
  // Halve the block as the buddy allocator would until only the freed part is left.
  while (part.order > free.order) {
    LiveBlock other = resized(part, part.order - 1);
    part = other;
    const std::uint64_t half = std::uint64_t{1} << other.order;
    (free.page >= part.key + half ? part : other).key += half;
    put_pages(other);
  }
  return part;
}

// A block begins at a multiple of its own size. Most frees of unknown pages end early: there are
// live blocks of few orders.
std::optional<std::uint64_t> LiveBlocks::find_holder(const PageFree& free) const {
  std::uint64_t previous = ~std::uint64_t{0};
  for (std::uint32_t order = free.order; order < kOrders; ++order) {
    const std::uint64_t base = free.page & ~((std::uint64_t{1} << order) - 1);
    if (live_by_order_[order] == 0 || base == previous) {
      continue;
    }
    previous = base;
    if (const LiveBlock* found = pages_.find(base)) {
      const std::uint64_t limit = base + (std::uint64_t{1} << found->order);
      const bool holds = free.page + (std::uint64_t{1} << free.order) <= limit;
      return holds ? std::optional(base) : std::nullopt;
    }
  }
  return std::nullopt;
}

// Pages that were allocated in smaller blocks and are freed as one, as hugetlb and contiguous
// ranges are.
std::optional<LiveBlock> LiveBlocks::free_smaller(const PageFree& free) {
  std::optional<LiveBlock> sum;
  const std::uint64_t limit = free.page + (std::uint64_t{1} << row_of(free.order));
  for (std::uint64_t page = free.page; page < limit;) {
    const auto block = take_pages(page);
    page += block ? std::uint64_t{1} << block->order : 1;
    if (block && sum) {
      sum->bytes += block->bytes;
    } else if (block) {
      sum = *block;
    }
  }
  return sum;
}

LiveBlock LiveBlocks::resized(LiveBlock block, std::uint32_t order) const {
  block.order = order;
  block.bytes = page_size_bytes_ << order;
  block.bytes_req = block.bytes;
  return block;
}

LiveBlock block_of(const Event& event) {
  LiveBlock block;
  block.time_ns = event.time_ns;
  block.pid = event.pid;
  block.tid = event.tid;
  block.cpu = event.cpu;
  block.comm = event.comm;
  block.cache = event.cache;
  block.call_site = event.call_site;
  block.sampling = event.sampling;
  block.stack = event.stack;
  block.identity = event.identity;
  block.life = event.life;
  return block;
}

}  // namespace memtrace
