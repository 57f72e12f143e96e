// Bits of perf_event_attr that <linux/perf_event.h> of older machines does not name.
#pragma once

#include <cstdint>

namespace memtrace {

inline constexpr std::uint64_t kReadFormatLost = 1U << 4U;          // PERF_FORMAT_LOST, 6.0
inline constexpr std::uint64_t kSamplePhysicalAddress = 1U << 19U;  // PERF_SAMPLE_PHYS_ADDR, 4.13

}  // namespace memtrace
