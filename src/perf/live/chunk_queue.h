// From the reader threads, one for each ring, to the one thread that merges. Chunks go round: what
// the merge has finished with is filled again, so that draining a ring needs no fresh memory,
// which would itself be traced.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <vector>

#include "perf/live/chunk.h"

namespace memtrace {

// How far behind the merge is. Stacks are given up before samples, and mmap, comm, fork and exit
// records never: without them no later sample could be named.
enum class Overload : std::uint8_t { None, CutStacks, DropSamples };

class ChunkQueue {
 public:
  explicit ChunkQueue(std::size_t limit_bytes) : limit_bytes_(limit_bytes) {}

  // Makes `count` empty chunks, touches the first `touched_bytes` of each, and keeps them. Called
  // once, before the readers start.
  void reserve(std::size_t count, std::size_t touched_bytes);

  // For a reader: an empty chunk, and a full one handed over.
  ChunkPtr take_empty();
  void push(ChunkPtr chunk);

  // For the merge: what has come, waiting at most so long for it; and a chunk given back.
  std::vector<ChunkPtr> take_all(std::chrono::milliseconds wait);
  void recycle(ChunkPtr chunk);

  // Frees the empty chunks that no reader has needed for kIdleNs: a burst is over then.
  void free_idle(std::uint64_t now_ns);

  // By the memory that records in chunks take.
  Overload overload() const;

  // The merge is behind, but nothing has to be given up yet.
  bool is_filling() const {
    return used_bytes_.load(std::memory_order_relaxed) >= limit_bytes_ / 4;
  }

  // More waits than sorting needs: the merge is behind where others take the CPUs.
  bool is_behind() const {
    constexpr std::size_t kSortedBytes = std::size_t{32} << 20U;
    return used_bytes_.load(std::memory_order_relaxed) >= std::min(kSortedBytes, limit_bytes_ / 4);
  }

  // Empty chunks that are kept.
  std::size_t spare_count() const;

  // How often the merge has taken what had come.
  std::uint64_t taken_times() const { return taken_times_.load(std::memory_order_acquire); }

  // The newest record time that any ring has shown.
  std::uint64_t newest_ns() const { return newest_ns_.load(std::memory_order_acquire); }

  void note_newest(std::uint64_t time_ns);

  // Any ring had records a moment ago: they wait for the others to be looked at.
  bool is_busy(std::uint64_t now_ns) const {
    return now_ns - filled_at_ns_.load(std::memory_order_relaxed) < kBusyNs;
  }

  void note_filled(std::uint64_t now_ns) { filled_at_ns_.store(now_ns, std::memory_order_relaxed); }

  static constexpr std::uint64_t kIdleNs = 10'000'000'000;

 private:
  static constexpr std::uint64_t kBusyNs = 100'000'000;
  static constexpr std::size_t kMaxSpare = 64;  // MiB

  const std::size_t limit_bytes_;
  std::size_t reserved_ = 0;  // chunks
  mutable std::mutex mutex_;
  std::condition_variable filled_;
  std::vector<ChunkPtr> full_;
  std::vector<ChunkPtr> empty_;      // used from the back: in front are those that nobody needs
  std::size_t lowest_spare_ = 0;     // of the count of empty ones, since idle ones were freed
  std::uint64_t idle_freed_ns_ = 0;  // the merge's
  std::atomic<std::size_t> used_bytes_ = 0;
  std::atomic<std::uint64_t> taken_times_ = 0;
  std::atomic<std::uint64_t> newest_ns_ = 0;
  std::atomic<std::uint64_t> filled_at_ns_ = 0;  // CLOCK_MONOTONIC
};

}  // namespace memtrace
