// Probes on the code of every process: what they will cost, said before they cost it.
#pragma once

#include <span>
#include <string>

#include "base/result.h"
#include "perf/event/event_attr.h"
#include "perf/event/hit_rate.h"
#include "perf/target/target.h"

namespace memtrace {

// Counts for a second how often the probed functions are called, and prints it. Nothing for other
// targets than the whole machine, and without probes. Error: Usage, unless `is_wanted`: every
// process that calls what is probed waits for each call's trap, so "the whole machine" alone does
// not ask for it.
Result<> ask_for_all_processes(const Target& target,
                               std::span<const EventRequest> events,
                               bool is_wanted);

std::string describe_probe_rate(const HitRate& rate);

}  // namespace memtrace
