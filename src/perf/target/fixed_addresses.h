// Commands that are started without address space randomization, as debuggers start them.
//
// The kernel limits a copy of a user stack to the end of the address space (kernel/events/core.c,
// perf_sample_ustack_size), and not to the end of the stack: it copies on behind it until it takes
// a page fault, some 1 us for each sample, and the sample takes the room of the whole copy. Without
// randomization the first thread's stack ends where the address space does (fs/binfmt_elf.c,
// randomize_stack_top), so that neither happens. Not with five levels of page tables, where the
// address space ends far above the stack.
#pragma once

#include <span>

#include "perf/event/event_attr.h"
#include "perf/target/target.h"

namespace memtrace {

// Fixed where it would help the command of this target and the user has not wished otherwise.
Addresses addresses_for(const Target& target,
                        std::span<const EventRequest> events,
                        const CallGraph& call_graph);

}  // namespace memtrace
