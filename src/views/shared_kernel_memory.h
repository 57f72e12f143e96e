// What an allocator took from the kernel against what the program holds of it: for views of the
// user heap.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "report/report.h"
#include "state/world.h"
#include "views/view.h"

namespace memtrace {

// Needs of such a view, all optional: a kernel may have been built without these events.
inline constexpr auto kKernelMemoryNeeds = std::to_array<std::string_view>({
    "syscalls:sys_enter_mmap|",
    "syscalls:sys_exit_mmap|",
    "syscalls:sys_enter_munmap|",
    "syscalls:sys_exit_munmap|",
    "syscalls:sys_enter_mprotect|",
    "syscalls:sys_exit_mprotect|",
    "syscalls:sys_enter_mremap|",
    "syscalls:sys_exit_mremap|",
    "syscalls:sys_enter_brk|",
    "syscalls:sys_exit_brk|",
});

template <std::size_t Count>
constexpr auto with_kernel_memory(const std::array<std::string_view, Count>& needs) {
  std::array<std::string_view, Count + kKernelMemoryNeeds.size()> all{};
  std::copy(kKernelMemoryNeeds.begin(),
            kKernelMemoryNeeds.end(),
            std::copy(needs.begin(), needs.end(), all.begin()));
  return all;
}

// A total, a table by process and a note; nothing when no such system call was recorded.
void add_kernel_memory(Report& report, const World& world, const TaskFilter& tasks);

}  // namespace memtrace
