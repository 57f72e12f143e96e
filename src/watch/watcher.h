// The loop behind `memtrace watch`: a live kernel into a ring of memory, and from there into a file
// whenever a trigger fires.
//
//   LiveSource -> Pipeline -> Watcher -> ZstdPacker -> SegmentRing --trigger, --after--> a file
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "perf/live/live_source.h"
#include "plan/events/event_selection.h"
#include "watch/trigger.h"

namespace memtrace {

struct WatchOptions {
  LiveSetup live;
  SelectedEvents selected;
  std::vector<Trigger> triggers;
  std::uint64_t before_ns = 60'000'000'000;
  std::uint64_t after_ns = 10'000'000'000;
  std::string output;          // CaptureFiles
  std::uint64_t keep = 20;     // 0: all
  std::size_t ring_bytes = 0;  // of the compressed records
  std::size_t most_bytes = 0;  // of all anonymous memory; beyond, memtrace begins anew
  std::vector<std::string> command_line;
  std::string target_text;
};

// Of the compressed records, unless the user says otherwise.
inline constexpr std::size_t kWatchDefaultBytes = std::size_t{32} << 20;

// What memtrace takes beside the compressed records, without the kernel's rings: names of the
// kernel's functions, processes, stacks, what waits to be sorted.
inline constexpr std::size_t kWatchOverheadBytes = std::size_t{128} << 20;
// Of that, taken and touched at the start.
inline constexpr std::size_t kWatchHeapBytes = std::size_t{80} << 20;

// Returns the number of files written. An error ends it only before it watches.
Result<std::uint64_t> watch(const WatchOptions& options);

}  // namespace memtrace
