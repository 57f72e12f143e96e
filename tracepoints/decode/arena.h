// The static probes of glibc's malloc, libc:memory_*. Their fields are arg1, arg2 and arg3, those
// that could be fetched. Theirs are the names "memtrace_12:libc_memory_arena_new", numbered when
// the probe is at several places, and perf's own "sdt_libc:memory_arena_new".
#pragma once

#include <string>
#include <string_view>

namespace memtrace {

bool is_arena_event(std::string_view event_name);

// What a probe of -e is on: "memtrace_12:foo" -> "foo", "sdt_libc:memory_arena_new" ->
// "libc_memory_arena_new"; "" for all other events.
std::string user_probe_name(std::string_view event_name);

}  // namespace memtrace
