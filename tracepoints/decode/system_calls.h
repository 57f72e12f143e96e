// System calls by name and by number. syscalls:sys_enter_mmap and similar events exist where the
// kernel has CONFIG_FTRACE_SYSCALLS; raw_syscalls:sys_enter and sys_exit, which report all calls by
// number, exist everywhere.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "tracepoints/event/event_syscalls.h"

namespace memtrace {

inline constexpr std::int32_t kNoNumber = -1;

// The latter of each are 2.6.32's names (include/trace/events/syscalls.h, TRACE_SYSTEM).
inline constexpr std::array<std::string_view, 2> kRawEntries = {"raw_syscalls:sys_enter",
                                                                "syscalls:sys_enter"};
inline constexpr std::array<std::string_view, 2> kRawExits = {"raw_syscalls:sys_exit",
                                                              "syscalls:sys_exit"};

bool is_raw_call_event(std::string_view event);
bool is_raw_entry(std::string_view event);

// "syscalls:sys_enter_mmap", "syscalls:sys_exit_mmap"; not for Other.
std::string_view entry_event(SystemCall call);
std::string_view exit_event(SystemCall call);

// Names of the parameters, with "" behind the last; one that was renamed is "new name|old name".
std::span<const std::string_view> argument_names(SystemCall call);

// Whose entry or exit it is.
std::optional<SystemCall> call_of_event(std::string_view event);

// Numbers of one architecture's 64-bit programs. A 32-bit program's are others, and nothing in the
// raw events distinguishes the two.
class CallNumbers {
 public:
  // As uname -m says; "" is this program's own. Of others no call is known.
  explicit CallNumbers(std::string_view architecture = {});

  SystemCall call(std::uint64_t number) const;  // Other: none that memtrace distinguishes
  std::optional<std::uint32_t> number(SystemCall call) const;

 private:
  std::array<std::int32_t, kSystemCalls> numbers_{};
};

}  // namespace memtrace
