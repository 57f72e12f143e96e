// System calls that were refused memory, or a task for want of it.
#pragma once

#include "tracepoints/event/event_syscalls.h"

namespace memtrace {

// ENOMEM; EAGAIN of fork(2) and its like, and of mmap(2) and mremap(2) that would lock too much;
// ENOSPC of shmget(2), where System V memory as a whole is limited; a brk(2) that stayed below what
// was asked for.
bool was_refused_memory(const SystemCallDone& done);

}  // namespace memtrace
