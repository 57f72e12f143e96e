// The events that views and recordings need beyond those that they name, and how.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "perf/event/event_attr.h"
#include "views/view.h"

namespace memtrace {

// What a recording holds when nothing was asked for: what these views need, as far as the kernel
// has it, and some events of others.
std::span<const std::string_view> default_views();
std::span<const std::string_view> default_needs();
std::span<const EventNarrowing> default_parts();

// What the table of mappings needs; each may be missing in a kernel.
std::span<const std::string_view> memory_map_needs();
bool changes_mappings(std::string_view name);

// For views of the heap the entries of system calls by which programs get memory have the stacks of
// who called.
void ask_who_takes_memory(std::vector<EventRequest>& requests);

// Entries and exits, begins and ends are paired: one in N would pair nothing.
bool is_paired(std::string_view name);

// The kernel's own work, which comes in bursts; false of page faults, system calls and OOM kills,
// of probes, and of reclaim that a task has to do itself.
bool is_in_bursts(const EventRequest& request);

// Sets in_bursts, at_system_call and is_of_anybody.
void note_origin(EventRequest& request);

// Views show no stacks of some events; what the user names has them. of_calls: the view shows those
// of system calls.
bool has_stacks(std::string_view name, bool of_calls);

}  // namespace memtrace
