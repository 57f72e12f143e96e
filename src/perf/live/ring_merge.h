// Records of several rings in the order of their times. A record is given out once every ring has
// been looked at twice after it was written: once would do if the kernel stamped and wrote a record
// in one step, but an interrupt may come between, so that an older record appears late.
//
//   looked at    ring 0   --A-----------B--------C->
//                ring 1   ------A----------B---D--->      complete up to the older of the two marks
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "perf/live/chunk_queue.h"
#include "perf/record/shared_parser.h"

namespace memtrace {

class RingMerge {
 public:
  struct Entry {
    std::uint64_t time_ns = 0;
    std::uint64_t sequence = 0;
    Chunk* chunk = nullptr;
    std::uint32_t offset_bytes = 0;
    std::uint32_t size_bytes = 0;

    std::span<const std::byte> bytes() const {
      return chunk->bytes().subspan(offset_bytes, size_bytes);
    }
  };

  RingMerge(std::size_t ring_count, const SharedParser& parser, ChunkQueue& queue);

  void add(ChunkPtr chunk);

  // Sorts what may be given out by now; everything when no more will come.
  void release(bool all);

  // The next record in order; nothing until the next release(). Its bytes stay until the call
  // after this one.
  std::optional<Entry> next();

  // The time of what next() will give out; nothing until the next release().
  std::optional<std::uint64_t> next_time_ns() const {
    return ready_position_ < ready_.size() ? std::optional(ready_[ready_position_].time_ns)
                                           : std::nullopt;
  }

  // Looks at what next() will give out, without giving it out.
  template <typename Visitor>
  void for_each_ready(Visitor visit) const {
    for (std::size_t i = ready_position_; i < ready_.size(); ++i) {
      visit(ready_[i]);
    }
  }

  // Every record up to here has been given out.
  std::uint64_t complete_to_ns() const { return complete_to_ns_; }

  // Since the last call: samples older than what had already been given out (other records are
  // given out all the same), samples and stacks given up to overload.
  struct Losses {
    std::vector<LossSpan> late;
    std::vector<LossSpan> dropped;
    std::uint64_t cut = 0;
  };

  Losses take_losses();

  // Entries that there is memory for.
  std::size_t capacity() const { return pending_.capacity() + ready_.capacity(); }

 private:
  struct Mark {
    std::uint64_t newest_ns = 0;
    std::uint64_t before_ns = 0;
  };

  void index(Chunk& chunk);
  void finish(Chunk* chunk);

  const SharedParser& parser_;
  ChunkQueue& queue_;
  std::vector<Mark> marks_;
  std::vector<ChunkPtr> chunks_;  // in use
  std::vector<Entry> pending_;
  std::vector<Entry> ready_;
  std::size_t ready_position_ = 0;
  Chunk* last_given_ = nullptr;
  std::uint64_t sequence_ = 0;
  std::uint64_t complete_to_ns_ = 0;
  Losses losses_;
};

}  // namespace memtrace
