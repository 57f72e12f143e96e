// Which limits a system call that was refused memory would have passed, by what /proc said then.
// That is evidence and no proof: another thread may have changed what was read a moment later.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "state/world/observations.h"
#include "tracepoints/event/event_syscalls.h"
#include "views/reason/reason.h"

namespace memtrace {

// How many bytes more a call asked for; nothing for one that does not say.
std::optional<std::uint64_t> asked_bytes(const SystemCallDone& done);

// In the order of the table; empty where nothing is passed.
std::vector<Reason> reasons_of(const SystemCallDone& done, const Facts& facts);

// Where reasons_of() finds none: what was read, or that nothing could be.
Reason unexplained(const SystemCallDone& done, const Facts* facts);

}  // namespace memtrace
