// What was true before the events were enabled, read from /proc: names of threads, executable
// mappings, and where the kernel and its modules lie.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/result.h"
#include "os/procfs.h"
#include "perf/record/record_builder.h"
#include "perf/target/target.h"

namespace memtrace {

enum class KeptMaps : std::uint8_t { Executable, All };

// Adds a comm record for each thread and a mmap record for each mapping of a process that is to be
// kept. A process that ends during this is left out.
void snapshot_process(std::uint32_t pid,
                      RecordBuilder& records,
                      KeptMaps kept = KeptMaps::Executable);

// Every process of the machine. Error: /proc is not there.
Result<> snapshot_all_processes(RecordBuilder& records, KeptMaps kept = KeptMaps::Executable);

// Where the kernel lies, as perf wants to have it announced. Nothing when its addresses are hidden
// (kptr_restrict).
std::optional<Mmap> kernel_mapping();

// The kernel and its modules, as perf wants to have them announced. Adds nothing when their
// addresses are hidden (kptr_restrict).
void snapshot_kernel(RecordBuilder& records);

// The process that a thread belongs to.
Result<std::uint32_t> process_of(std::uint32_t tid);

// The processes that run now: all of the machine, or those of the target.
std::vector<std::uint32_t> processes_of(const Target& target);

// As the kernel's own record of the mapping would be; its path borrows from the line. The line does
// not say whether the mapping has huge pages: see HugeMappings.
Mmap record_of(const MapsLine& line);

}  // namespace memtrace
