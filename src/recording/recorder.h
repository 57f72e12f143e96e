// A live kernel into a perf.data file: the loop behind `memtrace record`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "perf/live/live_source.h"
#include "plan/events/event_selection.h"
#include "recording/rotation.h"

namespace memtrace {

struct RecordOptions {
  LiveSetup live;
  SelectedEvents selected;
  std::string output = "memtrace.data";
  int zstd_level = 0;  // of perf's COMPRESSED records; 0: plain
  bool embed_symbols = true;
  RotationOptions rotation;
  std::vector<std::string> command_line;  // of memtrace itself
  std::string target_text;                // for people: "the whole machine"
};

struct RecordSummary {
  std::uint64_t samples = 0;
  std::uint64_t lost = 0;       // by the kernel
  std::uint64_t dropped = 0;    // by memtrace for lack of memory
  std::uint64_t late = 0;       // older than what had been written
  std::uint64_t malformed = 0;  // could not be read
  std::uint64_t cut_stacks = 0;
  std::uint64_t own_samples = 0;
  std::uint64_t disk_full = 0;
  std::uint64_t bytes = 0;          // of all files
  std::string files;                // their names
  std::uint64_t removed_files = 0;  // older ones of this recording
  std::optional<int> command_status;
  std::vector<std::string> notes;
  bool notes_say_why = false;  // there are no events
};

Result<RecordSummary> record(RecordOptions options);

}  // namespace memtrace
