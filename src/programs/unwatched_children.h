// Warnings about the target before the recording: servers whose work is done by processes that they
// started long ago (postgres, nginx), and processes without memory.
#pragma once

#include <string>

#include "perf/target/target.h"

namespace memtrace {

// Says that processes to be watched have children that run already, which perf events do not
// follow: only those that are started from now on inherit them. "" when there are none, or the
// kernel does not list them (before 3.5, or without CONFIG_PROC_CHILDREN).
std::string unwatched_children(const Target& target);

// Says that a process to be watched is a thread of the kernel, or has ended and only waits for its
// parent (a zombie): the views of user memory show nothing of them. "" when there is none.
std::string without_memory(const Target& target);

}  // namespace memtrace
