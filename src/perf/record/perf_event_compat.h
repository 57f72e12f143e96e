// Bits of perf_event_attr and of records that <linux/perf_event.h> of older machines does not name.
#pragma once

#include <cstdint>

namespace memtrace {

inline constexpr std::uint64_t kReadFormatLost = 1U << 4U;          // PERF_FORMAT_LOST, 6.0
inline constexpr std::uint64_t kSamplePhysicalAddress = 1U << 19U;  // PERF_SAMPLE_PHYS_ADDR, 4.13
inline constexpr std::uint64_t kAttrBuildId = std::uint64_t{1} << 34U;  // of the flags, 5.12
inline constexpr std::uint16_t kMiscMmapBuildId = 1U << 14U;  // PERF_RECORD_MISC_MMAP_BUILD_ID

}  // namespace memtrace
