// Limits of the cgroups that a process is in, as facts of an observation.
#pragma once

#include <string_view>

#include "state/world/observations.h"

namespace memtrace {

// Facts from the text of /proc/PID/cgroup (cgroups(7)), either version: cgroup, the path;
// cgroup_limit and cgroup_usage in bytes, of the cgroup with the lowest limit among it and those
// that it is in. For a task that has ended the kernel says "/": then a cgroup that is already among
// the facts is kept.
void add_memory_cgroup(std::string_view text, Facts& facts);

// Fact full_cgroup: of the same cgroups that with the least room below its limit, as a reclaim for
// the sake of a limit does not say whose it was.
void add_full_cgroup(std::string_view text, Facts& facts);

// As add_memory_cgroup, of processes: pids_limit and pids.
void add_pids_cgroup(std::string_view text, Facts& facts);

}  // namespace memtrace
