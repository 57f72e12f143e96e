// How often events happen on the whole machine, before anything is recorded of them.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>

#include "base/result.h"
#include "perf/event/event_attr.h"
#include "perf/event/perf_calls.h"

namespace memtrace {

struct HitRate {
  std::uint64_t hits = 0;
  std::chrono::nanoseconds span = {};

  std::uint64_t per_second() const;
};

// Counts for so long, without samples. Filters do not apply: a hit that a filter drops costs the
// traced program a trap as well. Error: the kernel refuses an event.
Result<HitRate> count_hits(std::span<const EventRequest> events,
                           std::chrono::nanoseconds span,
                           const PerfCalls& calls = system_perf_calls());

}  // namespace memtrace
