// The last minute of records, compressed, in memory that was taken at the start.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "observe/host_facts.h"
#include "os/mapping.h"
#include "perf/file_out/zstd_piece.h"
#include "sections/loss_log.h"
#include "state/world/observations.h"
#include "watch/resident_sizes.h"

namespace memtrace {

// What is known of the time of a segment beside its records.
struct SegmentFacts {
  std::uint64_t start_ns = 0;  // on the records' clock
  std::uint64_t began_ns = 0;  // CLOCK_MONOTONIC
  std::string identities;      // as of its start, and what was learnt in it
  std::vector<Observation> observations;
  std::uint64_t observations_skipped = 0;
  LossLog losses;
  std::uint64_t late = 0, malformed = 0, overload = 0, cut_stacks = 0;
  // The source's counters at its start.
  std::uint64_t own_samples = 0;
  std::map<std::string, std::uint64_t> own_events;
  std::uint64_t mapping_reads = 0;
  VmstatCounters vmstat;            // at its start
  std::vector<ResidentSize> sizes;  // the same
  std::uint64_t first_sample_ns = 0, last_sample_ns = 0;
};

// Pieces of whole records lie in a circle of bytes. A segment is a stretch of them that begins with
// the state that all before it has left, so a file may begin with any segment:
//
//   | state pieces ... | state pieces ... | state pieces .......|      |
//     oldest segment                        newest segment        free
//
// New pieces take the place of the oldest segment, as a whole.
class SegmentRing {
 public:
  struct Piece {
    std::size_t offset = 0;
    std::size_t size_bytes = 0;
    std::uint64_t sample_count = 0;
    bool is_state = false;  // what the records before the segment have left
  };

  struct Segment {
    SegmentFacts facts;
    std::vector<Piece> pieces;
    std::size_t used_bytes = 0;
  };

  // Error: there is not that much memory.
  static Result<SegmentRing> create(std::size_t capacity_bytes);

  void begin(SegmentFacts facts);

  // To the newest segment.
  void append(const ZstdPiece& piece, bool is_state);

  // Of the newest segment; one begins first.
  SegmentFacts& facts() { return segments_.back().facts; }

  std::size_t newest_bytes() const { return segments_.back().used_bytes; }

  // What happened before that time, by CLOCK_MONOTONIC, is not asked for any more.
  void forget_before(std::uint64_t began_ns);

  // The number of the newest segment that begins at that time or before it, else the first.
  std::size_t segment_at(std::uint64_t began_ns) const;

  const std::deque<Segment>& segments() const { return segments_; }

  std::span<const std::byte> bytes_of(const Piece& piece) const {
    return memory_.bytes().subspan(piece.offset, piece.size_bytes);
  }

  std::size_t capacity_bytes() const { return memory_.bytes().size(); }

  // Segments that new ones have taken the place of, before they were too old.
  std::uint64_t crowded_out() const { return crowded_out_; }

  // Samples that found no room although theirs was the only segment.
  std::uint64_t lost_samples() const { return lost_samples_; }

 private:
  explicit SegmentRing(Mapping memory) : memory_(std::move(memory)) {}

  bool has_room(std::size_t offset, std::size_t size_bytes) const;

  Mapping memory_;
  std::deque<Segment> segments_;
  std::size_t end_ = 0;  // of the newest piece
  std::uint64_t crowded_out_ = 0;
  std::uint64_t lost_samples_ = 0;
};

}  // namespace memtrace
