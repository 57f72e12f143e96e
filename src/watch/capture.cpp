#include "watch/capture.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace memtrace {
namespace {

void add_facts(const SegmentFacts& segment, Capture& capture) {
  RecordingFacts& facts = capture.facts;
  std::ranges::copy(segment.observations, std::back_inserter(facts.observations));
  std::ranges::copy(segment.losses.entries(), std::back_inserter(facts.losses));
  facts.observations_skipped += segment.observations_skipped;
  facts.late += segment.late;
  facts.malformed += segment.malformed;
  facts.overload += segment.overload;
  facts.cut_stacks += segment.cut_stacks;
  capture.end.identities += segment.identities;
  Recording& end = capture.end;
  end.first_time_ns = end.first_time_ns == 0 ? segment.first_sample_ns : end.first_time_ns;
  end.last_time_ns = std::max(end.last_time_ns, segment.last_sample_ns);
}

void add_all_facts(const SegmentRing& ring, Capture& capture) {
  const SegmentFacts& first = ring.segments()[capture.first_segment].facts;
  RecordingFacts& facts = capture.facts;
  facts.started_ns = std::max(facts.started_ns, first.start_ns);
  facts.own_samples = capture.own_samples - first.own_samples;
  facts.own_events = counted_since(first.own_events, capture.own_events);
  facts.mapping_reads = capture.mapping_reads - first.mapping_reads;
  facts.vmstat = growth_of(first.vmstat, capture.vmstat);
  for (std::size_t i = capture.first_segment; i < ring.segments().size(); ++i) {
    add_facts(ring.segments()[i].facts, capture);
  }
}

Result<std::uint64_t> write_segment(const SegmentRing& ring,
                                    const SegmentRing::Segment& segment,
                                    bool with_state,
                                    FileWriter& writer) {
  std::uint64_t samples = 0;
  for (const SegmentRing::Piece& piece : segment.pieces) {
    if (piece.is_state && !with_state) {
      continue;
    }
    TRY(writer.write_packed({ring.bytes_of(piece), piece.sample_count}));
    samples += piece.sample_count;
  }
  TRY(writer.finish_round());
  return samples;
}

// Each segment but the first begins with a state that the records before it lead to as well: it is
// left out, as a reader would take it for news.
Result<std::uint64_t> write_segments(const SegmentRing& ring,
                                     std::size_t first,
                                     FileWriter& writer) {
  std::uint64_t samples = 0;
  for (std::size_t i = first; i < ring.segments().size(); ++i) {
    const auto written = write_segment(ring, ring.segments()[i], i == first, writer);
    if (!written.ok()) {
      return written.error();
    }
    samples += written.value();
  }
  return samples;
}

Result<CaptureSummary> write_all(FileWriter& writer, const SegmentRing& ring, Capture& capture) {
  const auto samples = write_segments(ring, capture.first_segment, writer);
  if (!samples.ok()) {
    return samples.error();
  }
  capture.facts.disk_full = writer.samples_lost();
  capture.end.about_json = to_json(capture.facts);
  writer.set_about([facts = capture.facts](std::uint64_t samples_lost) mutable {
    facts.disk_full = samples_lost;
    return to_json(facts);
  });
  TRY(writer.finish(capture.end));
  return CaptureSummary{.samples = samples.value(),
                        .samples_lost = writer.samples_lost(),
                        .bytes = writer.bytes_written()};
}

}  // namespace

Result<CaptureSummary> write_capture(const std::string& path,
                                     const SegmentRing& ring,
                                     Capture capture) {
  add_all_facts(ring, capture);
  auto writer = create_file_writer(path, capture.setup);
  if (!writer.ok()) {
    return writer.take_error();
  }
  auto written = write_all(*writer.value(), ring, capture);
  if (!written.ok()) {
    writer.value()->abandon();
  }
  return written;
}

}  // namespace memtrace
