// The machines that memtrace knows: how they pass arguments, number their registers and system
// calls, and lay out stacks. Each place that depends on it includes this, so that on another
// machine nothing is built that would take its registers for x86-64's.
#pragma once

#if !defined(__LP64__) || \
    !(defined(__x86_64__) || (defined(__aarch64__) && !defined(__AARCH64EB__)))
#error "memtrace knows 64-bit x86 and little-endian 64-bit Arm; this is another machine"
#endif

#include <string_view>

namespace memtrace {

// As uname(2) names it.
#if defined(__x86_64__)
inline constexpr std::string_view kHostMachine = "x86_64";
#elif defined(__aarch64__)
inline constexpr std::string_view kHostMachine = "aarch64";
#endif

}  // namespace memtrace
