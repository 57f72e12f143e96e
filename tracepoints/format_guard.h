// Keeps texts from libtraceevent 1.7.1 that it does not survive: it dereferences NULL when a field
// line is cut or when __print_flags names a field that is not there, and divides by a constant 0. A
// perf.data file may hold anything. Internal to tracepoints/.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace memtrace {

// The text as it can be given to libtraceevent: without its print fmt when that is cut or damaged;
// nothing when the field lines themselves are.
std::optional<std::string> guarded_format(std::string_view text);

}  // namespace memtrace
