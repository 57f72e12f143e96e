// What a file of `memtrace watch` begins with: which trigger fired and why, who had grown by then,
// and who took memory in the seconds before.
#pragma once

#include <cstdint>
#include <string>

#include "report/namer.h"
#include "report/report.h"
#include "sections/recording_facts.h"
#include "views/all/all_views.h"

namespace memtrace {

// The view behind the last part: by process, the memory that was touched first in the seconds
// before the trigger. It is none of all_views(): it takes the trigger's time.
extern const NamedView memory_taken;

// Its option: a time in nanoseconds on the records' clock.
inline constexpr const char* kTakenUntil = "until";

struct WhatHappened {
  const WatchFacts& watch;
  const Report* taken = nullptr;  // of memory_taken; null: its events were not recorded
  ReportClock clock;
  std::uint64_t start_ns = 0;  // of the recording
  std::string arguments;       // of each command, " -i FILE"
};

// No rows for a recording that no trigger made.
Table what_happened(const WhatHappened& facts, Namer& namer);

}  // namespace memtrace
