// Events that several views need, as lists to be joined.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

namespace memtrace {

// System calls that take memory from the kernel and give it back. All may be missing: a kernel may
// have been built without these events.
inline constexpr auto kMappingCallNeeds = std::to_array<std::string_view>({
    "syscalls:sys_enter_mmap|",
    "syscalls:sys_exit_mmap|",
    "syscalls:sys_enter_munmap|",
    "syscalls:sys_exit_munmap|",
    "syscalls:sys_enter_mremap|",
    "syscalls:sys_exit_mremap|",
    "syscalls:sys_enter_brk|",
    "syscalls:sys_exit_brk|",
});

template <typename Need, std::size_t First, std::size_t Second>
constexpr auto joined(const std::array<Need, First>& first,
                      const std::array<Need, Second>& second) {
  std::array<Need, First + Second> all{};
  std::copy(second.begin(), second.end(), std::copy(first.begin(), first.end(), all.begin()));
  return all;
}

}  // namespace memtrace
