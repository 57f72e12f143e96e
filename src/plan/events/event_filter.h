// Finds the recorded events that a --filter expression applies to: those that have its fields.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "perf/event/event_attr.h"
#include "perf/target/target.h"

namespace memtrace {

// The fields that an expression compares, each once: "a > 1 && b == x" names a and b
// (Documentation/trace/events.rst, 5. Event filtering).
std::vector<std::string> fields_of_filter(std::string_view expression);

// Gives the filter to all tracepoints that have its fields. The result is a sentence that names the
// events which stay unfiltered, "" when there are none. Error: Usage, when no event has the fields.
Result<std::string> apply_filter(const std::string& filter, std::vector<EventRequest>& requests);

// The kernel cannot test fields that it does not fetch: memtrace does it for probes by the uprobe
// PMU, and knows numbers only. Error: Usage.
Result<> check_pmu_filters(const std::vector<EventRequest>& requests);

// Its probes are made for each thread anew, and removed one after the other. Error: Usage, when
// that would take minutes.
Result<> check_pmu_tasks(const std::vector<EventRequest>& requests, const Target& target);

}  // namespace memtrace
