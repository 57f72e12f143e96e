// Probes on the code of every process: what they will cost, said before they cost it.
#pragma once

#include <span>
#include <string>

#include "perf/event/event_attr.h"
#include "perf/event/hit_rate.h"
#include "perf/target/target.h"

namespace memtrace {

// Counts how often the probed functions are called and prints it. Nothing for other targets than
// the whole machine, and without probes.
void tell_probe_rate(const Target& target, std::span<const EventRequest> events);

std::string describe_probe_rate(const HitRate& rate);

}  // namespace memtrace
