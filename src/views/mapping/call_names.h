// System calls in words: their names, the flags that they take, the errors that they end with.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "tracepoints/event/event_syscalls.h"

namespace memtrace {

// "mmap".
std::string_view name_of(SystemCall call);

// "ENOMEM"; "errno 200" for one without a name here.
std::string error_name(int error);

// "rwx", "r--".
std::string protection_name(std::uint64_t protection);

// mmap's: "private|anonymous|noreserve"; bits without a name as a number behind the names.
std::string map_flag_names(std::uint64_t flags);

}  // namespace memtrace
