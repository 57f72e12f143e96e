// The user's registers as the kernel samples them, by the numbers that DWARF gives them.
#pragma once

#include "perf/record/record.h"
#include "symbolize/cfi/register_file.h"

namespace memtrace {

// Registers without a part in unwinding (flags, segments) are left out; none of a kernel thread.
RegisterFile sampled_registers(const UserRegisters& sampled);

// With the instruction of a user probe, which PERF_SAMPLE_IP has, so that no register needs to.
RegisterFile registers_of(const Sample& sample);

}  // namespace memtrace
