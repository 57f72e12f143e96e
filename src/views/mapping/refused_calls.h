// The system calls that may be refused memory, and the events that show it.
#pragma once

#include <array>
#include <string_view>

namespace memtrace {

inline constexpr auto kRefusedCallNeeds = std::to_array<std::string_view>({
    "syscalls:sys_enter_mmap",      "syscalls:sys_exit_mmap",      "syscalls:sys_enter_brk",
    "syscalls:sys_exit_brk",        "syscalls:sys_enter_mremap|",  "syscalls:sys_exit_mremap|",
    "syscalls:sys_enter_mprotect|", "syscalls:sys_exit_mprotect|", "syscalls:sys_enter_shmat|",
    "syscalls:sys_exit_shmat|",     "syscalls:sys_enter_shmget|",  "syscalls:sys_exit_shmget|",
    "syscalls:sys_enter_clone|",    "syscalls:sys_exit_clone|",    "syscalls:sys_enter_clone3|",
    "syscalls:sys_exit_clone3|",    "syscalls:sys_enter_fork|",    "syscalls:sys_exit_fork|",
    "syscalls:sys_enter_vfork|",    "syscalls:sys_exit_vfork|",
});

inline constexpr auto kRefusedCalls = std::to_array<std::string_view>({"mmap",
                                                                       "brk",
                                                                       "mremap",
                                                                       "mprotect",
                                                                       "pkey_mprotect",
                                                                       "shmat",
                                                                       "shmget",
                                                                       "clone",
                                                                       "clone3",
                                                                       "fork",
                                                                       "vfork"});

}  // namespace memtrace
