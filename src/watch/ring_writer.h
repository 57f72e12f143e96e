// Records as they come, packed into the ring block by block.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "perf/file_out/zstd_piece.h"
#include "watch/segment_ring.h"

namespace memtrace {

class RingWriter {
 public:
  // The ring outlives the writer.
  explicit RingWriter(SegmentRing& ring) : ring_(ring) { block_.reserve(2 * kBlockBytes); }

  // `state`: records that repeat what the segments before it have left; nothing for the first.
  void begin(SegmentFacts facts, std::span<const std::byte> state);

  void write(std::span<const std::byte> record);

  // All that was written is in the ring.
  void flush();

  // What makes room for new pieces is the oldest segment: it is to be a small part of all.
  bool is_segment_full() const {
    constexpr std::size_t kParts = 8;
    return ring_.newest_bytes() >= ring_.capacity_bytes() / kParts + state_bytes_;
  }

  SegmentRing& ring() { return ring_; }

  const SegmentRing& ring() const { return ring_; }

 private:
  // Records are packed together: the more, the smaller they become.
  static constexpr std::size_t kBlockBytes = std::size_t{256} << 10;

  void pack(std::span<const std::byte> records, bool is_state);

  SegmentRing& ring_;
  ZstdPacker packer_{1};
  std::vector<ZstdPiece> pieces_;
  std::vector<std::byte> block_;
  std::size_t state_bytes_ = 0;  // that the newest segment begins with
};

}  // namespace memtrace
