#include "watch/segment_ring.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>

namespace memtrace {

// MAP_POPULATE: when memory is short is no time to ask for it.
Result<SegmentRing> SegmentRing::create(std::size_t capacity_bytes) {
  auto memory = Mapping::map({.size_bytes = capacity_bytes,
                              .prot = PROT_READ | PROT_WRITE,
                              .flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE});
  if (!memory.ok()) {
    Error error = memory.take_error();
    error.hint = "give a smaller --max-memory";
    return error;
  }
  return SegmentRing(memory.take());
}

void SegmentRing::begin(SegmentFacts facts) {
  segments_.push_back({.facts = std::move(facts), .pieces = {}, .used_bytes = 0});
}

bool SegmentRing::has_room(std::size_t offset, std::size_t size_bytes) const {
  if (offset + size_bytes > capacity_bytes()) {
    return false;
  }
  // Pieces lie in one or two stretches: a new one may touch none of them.
  return std::ranges::none_of(segments_, [&](const Segment& segment) {
    return std::ranges::any_of(segment.pieces, [&](const Piece& piece) {
      return offset < piece.offset + piece.size_bytes && piece.offset < offset + size_bytes;
    });
  });
}

void SegmentRing::append(const ZstdPiece& piece, bool is_state) {
  const std::size_t size_bytes = piece.bytes.size();
  const std::size_t offset = end_ + size_bytes <= capacity_bytes() ? end_ : 0;
  while (!has_room(offset, size_bytes)) {
    if (segments_.size() == 1) {
      lost_samples_ += piece.sample_count;
      return;
    }
    segments_.pop_front();
    ++crowded_out_;
  }
  std::memcpy(memory_.bytes().data() + offset, piece.bytes.data(), size_bytes);
  Segment& newest = segments_.back();
  newest.pieces.push_back({offset, size_bytes, piece.sample_count, is_state});
  newest.used_bytes += size_bytes;
  end_ = offset + size_bytes;
}

void SegmentRing::forget_before(std::uint64_t began_ns) {
  while (segments_.size() > 1 && segments_[1].facts.began_ns <= began_ns) {
    segments_.pop_front();
  }
}

std::size_t SegmentRing::segment_at(std::uint64_t began_ns) const {
  std::size_t found = 0;
  for (std::size_t i = 1; i < segments_.size() && segments_[i].facts.began_ns <= began_ns; ++i) {
    found = i;
  }
  return found;
}

}  // namespace memtrace
