// The ring's segments from one of them on as a recording.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "base/result.h"
#include "perf/file_out/file_writer.h"
#include "sections/recording_facts.h"
#include "watch/segment_ring.h"

namespace memtrace {

struct Capture {
  WriterSetup setup;
  std::size_t first_segment = 0;
  RecordingFacts facts;  // what all files say alike; the segments' own are added
  Recording end;         // with build ids and names
  // The source's counters by now, and what has been counted in the kernel.
  std::uint64_t own_samples = 0;
  std::map<std::string, std::uint64_t> own_events;
  std::uint64_t mapping_reads = 0;
  VmstatCounters vmstat;
};

struct CaptureSummary {
  std::uint64_t samples = 0;
  std::uint64_t samples_lost = 0;  // the disk was full
  std::uint64_t bytes = 0;
};

// Writes all of it to that path. Error: what failed; there is no file then.
Result<CaptureSummary> write_capture(const std::string& path,
                                     const SegmentRing& ring,
                                     Capture capture);

}  // namespace memtrace
