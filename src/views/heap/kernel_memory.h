// What an allocator took from the kernel against what the program holds of it: for views of the
// user heap.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "report/report.h"
#include "state/world/world.h"
#include "views/kit/mapping_call_needs.h"
#include "views/view.h"

namespace memtrace {

// Needs of such a view, with its own in front.
template <std::size_t Count>
constexpr auto with_kernel_memory(const std::array<std::string_view, Count>& needs) {
  constexpr auto kProtectNeeds = std::to_array<std::string_view>(
      {"syscalls:sys_enter_mprotect|", "syscalls:sys_exit_mprotect|"});
  return joined(needs, joined(kMappingCallNeeds, kProtectNeeds));
}

// A total, a table by process and a note; nothing when no such system call was recorded.
void add_kernel_memory(Report& report, const World& world, const TaskFilter& tasks);

}  // namespace memtrace
