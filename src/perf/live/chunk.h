// A run of whole records as it was drained from one ring.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <vector>

#include "os/mapping.h"

namespace memtrace {

// The number of samples that are missing between these times.
struct LossSpan {
  std::uint64_t first_ns = 0;
  std::uint64_t last_ns = 0;
  std::uint64_t count = 0;
};

// Adds one loss: a new span unless it is within 10 ms of the start of the last one, which is as
// exact as a report's times are.
inline void add_loss(std::vector<LossSpan>& spans, std::uint64_t time_ns) {
  constexpr std::uint64_t kGrainNs = 10'000'000;
  if (spans.empty() || time_ns < spans.back().first_ns ||
      time_ns - spans.back().first_ns > kGrainNs) {
    spans.push_back({time_ns, time_ns, 1});
    return;
  }
  spans.back().last_ns = time_ns > spans.back().last_ns ? time_ns : spans.back().last_ns;
  ++spans.back().count;
}

class ChunkMemory {
 public:
  static constexpr std::size_t kBytes = std::size_t{1} << 20U;

  ChunkMemory() {
    auto mapping = Mapping::map({.size_bytes = kBytes,
                                 .prot = PROT_READ | PROT_WRITE,
                                 .flags = MAP_PRIVATE | MAP_ANONYMOUS});
    if (!mapping.ok()) {
      throw std::bad_alloc();
    }
    mapping_ = mapping.take();
  }

  std::span<std::byte> bytes() const { return mapping_.bytes(); }

 private:
  Mapping mapping_;
};

struct Chunk {
  static constexpr std::size_t kBytes = ChunkMemory::kBytes;

  // Pages that nobody has touched are not there yet, and to touch them is to allocate pages, which
  // may be what is recorded: a whole chunk for each few records would make more of them than they
  // are. Mapped, so that the kernel has it back when the chunk is not needed any more.
  ChunkMemory memory;
  std::size_t used_bytes = 0;
  std::size_t charged_bytes = 0;  // by the queue
  std::uint32_t stream = 0;       // which ring
  // Every record of this ring up to this time is in this chunk or an earlier one: the newest time
  // that any ring had shown before this one was looked at, or of a ring with more than the chunk
  // has room for, some time before the newest record in it. 0: nothing is known.
  std::uint64_t complete_to_ns = 0;
  std::vector<LossSpan> dropped;   // samples given up for lack of memory
  std::uint64_t cut_stacks = 0;    // stacks shortened for lack of memory
  std::size_t unread_records = 0;  // of the merge: when 0, the chunk can be used again

  std::span<std::byte> room() const { return memory.bytes(); }

  std::span<std::byte> bytes() const { return room().first(used_bytes); }
};

using ChunkPtr = std::unique_ptr<Chunk>;

}  // namespace memtrace
