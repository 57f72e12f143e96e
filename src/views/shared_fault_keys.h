// What one page fault event says of its fault, and the keys that only page faults have.
#pragma once

#include <cstdint>
#include <span>

#include "tracepoints/event.h"
#include "views/shared_keys.h"

namespace memtrace {

enum class FaultAccess : std::uint64_t { Unknown, Read, Write, Exec };

// Open: no event has told yet how the fault ended.
enum class FaultClass : std::uint64_t { Open, Minor, Major };

// Precise for x86's error codes only.
FaultAccess access_of(const PageFault& fault);
FaultClass class_of(const PageFault& fault);

// Taken by kernel code, copying from or to user memory mostly.
bool is_of_kernel(const PageFault& fault);

// The address of the page, of the smallest page size there is.
std::uint64_t page_of(const PageFault& fault);

// access, class, mode, page: for events with a PageFault only.
std::span<const KeySpec> fault_keys();

}  // namespace memtrace
