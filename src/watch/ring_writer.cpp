#include "watch/ring_writer.h"

#include <utility>

namespace memtrace {

void RingWriter::begin(SegmentFacts facts, std::span<const std::byte> state) {
  flush();
  ring_.begin(std::move(facts));
  pack(state, true);
  state_bytes_ = ring_.newest_bytes();
}

void RingWriter::write(std::span<const std::byte> record) {
  block_.insert(block_.end(), record.begin(), record.end());
  if (block_.size() >= kBlockBytes) {
    flush();
  }
}

void RingWriter::flush() {
  pack(block_, false);
  block_.clear();
}

void RingWriter::pack(std::span<const std::byte> records, bool is_state) {
  packer_.pack(records, pieces_);
  for (const ZstdPiece& piece : pieces_) {
    ring_.append(piece, is_state);
  }
  pieces_.clear();
}

}  // namespace memtrace
