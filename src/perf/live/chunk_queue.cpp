#include "perf/live/chunk_queue.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace memtrace {

void ChunkQueue::reserve(std::size_t count, std::size_t touched_bytes) {
  reserved_ = count;
  while (empty_.size() < count) {
    auto chunk = std::make_unique<Chunk>();
    std::ranges::fill(chunk->room().first(touched_bytes), std::byte{0});
    empty_.push_back(std::move(chunk));
  }
  lowest_spare_ = empty_.size();
}

ChunkPtr ChunkQueue::take_empty() {
  {
    const std::lock_guard lock(mutex_);
    if (!empty_.empty()) {
      ChunkPtr chunk = std::move(empty_.back());
      empty_.pop_back();
      lowest_spare_ = std::min(lowest_spare_, empty_.size());
      return chunk;
    }
  }
  return std::make_unique<Chunk>();
}

void ChunkQueue::push(ChunkPtr chunk) {
  chunk->charged_bytes = chunk->used_bytes;
  used_bytes_.fetch_add(chunk->charged_bytes, std::memory_order_relaxed);
  {
    const std::lock_guard lock(mutex_);
    full_.push_back(std::move(chunk));
  }
  filled_.notify_one();
}

std::vector<ChunkPtr> ChunkQueue::take_all(std::chrono::milliseconds wait) {
  std::unique_lock lock(mutex_);
  filled_.wait_for(lock, wait, [this] { return !full_.empty(); });
  taken_times_.fetch_add(1, std::memory_order_release);
  return std::exchange(full_, {});
}

void ChunkQueue::recycle(ChunkPtr chunk) {
  used_bytes_.fetch_sub(std::exchange(chunk->charged_bytes, 0), std::memory_order_relaxed);
  chunk->used_bytes = 0;
  chunk->dropped.clear();
  chunk->cut_stacks = 0;
  const std::lock_guard lock(mutex_);
  // Some are kept between two bursts: fresh pages cost as much as copying into them.
  const std::size_t spare = std::min(limit_bytes_ / Chunk::kBytes / 4, kMaxSpare);
  if (empty_.size() < std::max(spare, reserved_)) {
    empty_.push_back(std::move(chunk));
  }
}

void ChunkQueue::free_idle(std::uint64_t now_ns) {
  if (now_ns - idle_freed_ns_ < kIdleNs) {
    return;
  }
  idle_freed_ns_ = now_ns;
  std::vector<ChunkPtr> idle;  // unmapped without the lock
  const std::lock_guard lock(mutex_);
  const std::size_t idle_count = lowest_spare_ - std::min(lowest_spare_, reserved_);
  const auto end = empty_.begin() + static_cast<std::ptrdiff_t>(idle_count);
  std::move(empty_.begin(), end, std::back_inserter(idle));
  empty_.erase(empty_.begin(), end);
  lowest_spare_ = empty_.size();
}

std::size_t ChunkQueue::spare_count() const {
  const std::lock_guard lock(mutex_);
  return empty_.size();
}

Overload ChunkQueue::overload() const {
  const std::size_t used = used_bytes_.load(std::memory_order_relaxed);
  if (used < limit_bytes_ / 2) {
    return Overload::None;
  }
  return used < limit_bytes_ ? Overload::CutStacks : Overload::DropSamples;
}

void ChunkQueue::note_newest(std::uint64_t time_ns) {
  std::uint64_t known = newest_ns_.load(std::memory_order_relaxed);
  while (known < time_ns &&
         !newest_ns_.compare_exchange_weak(known, time_ns, std::memory_order_release)) {
  }
}

}  // namespace memtrace
