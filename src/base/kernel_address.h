// Where the kernel's addresses begin.
#pragma once

#include <cstdint>

namespace memtrace {

// The upper half of the address space is the kernel's on every 64-bit machine.
inline constexpr std::uint64_t kFirstKernelAddress = 0x8000000000000000U;

}  // namespace memtrace
