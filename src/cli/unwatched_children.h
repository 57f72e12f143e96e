// Servers whose work is done by processes that they started long ago: postgres, nginx.
#pragma once

#include <string>

#include "perf/target.h"

namespace memtrace {

// Says that processes to be watched have children that run already, which perf events do not
// follow: only those that are started from now on inherit them. "" when there are none, or the
// kernel does not list them (before 3.5, or without CONFIG_PROC_CHILDREN).
std::string unwatched_children(const Target& target);

}  // namespace memtrace
