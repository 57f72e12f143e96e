// Numbers that mmap(2) and its like take, as on x86-64 and arm64
// (include/uapi/asm-generic/mman*.h).
#pragma once

#include <cstdint>

namespace memtrace {

inline constexpr std::uint64_t kProtectRead = 1;
inline constexpr std::uint64_t kProtectWrite = 2;
inline constexpr std::uint64_t kProtectExecute = 4;
inline constexpr std::uint64_t kMapShared = 1;
inline constexpr std::uint64_t kMapPrivate = 2;
inline constexpr std::uint64_t kMapTypeMask = 0xf;
inline constexpr std::uint64_t kMapFixed = 0x10;
inline constexpr std::uint64_t kMapAnonymous = 0x20;
inline constexpr std::uint64_t kMapNoReserve = 0x4000;
inline constexpr std::uint64_t kMapStack = 0x20000;
inline constexpr std::uint64_t kMapHugeTlb = 0x40000;
inline constexpr std::uint64_t kRemapKeepOld = 4;  // MREMAP_DONTUNMAP
inline constexpr std::uint64_t kAdviseDontNeed = 4;

}  // namespace memtrace
