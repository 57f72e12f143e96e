// Probes on the code of every process: what they will cost, said before they cost it.
#pragma once

#include <span>
#include <string>

#include "base/result.h"
#include "perf/event/event_attr.h"
#include "perf/event/hit_rate.h"
#include "perf/target/target.h"

namespace memtrace {

struct ProbesOfAll {
  bool is_wanted = false;   // --yes-all-processes
  bool is_limited = false;  // --max-overhead, which measures their cost itself, for a moment only
};

// Counts for a second how often the probed functions are called, and prints it; not for probes that
// are wanted and limited. Nothing for other targets than the whole machine, and without probes.
// Error: Usage, unless they are wanted: every process that calls what is probed waits for each
// call's trap, so "the whole machine" alone does not ask for it.
Result<> ask_for_all_processes(const Target& target,
                               std::span<const EventRequest> events,
                               const ProbesOfAll& asked);

std::string describe_probe_rate(const HitRate& rate);

}  // namespace memtrace
