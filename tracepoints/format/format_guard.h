// Keeps texts from libtraceevent 1.7.1 that it does not survive, for a perf.data file may hold
// anything: it dereferences NULL when a field line is cut, when __print_flags names a field that is
// not there and at the end of some broken expressions, and divides by a constant 0. Internal to
// tracepoints/.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace memtrace {

// What libtraceevent is given to parse: the text with its print fmt reduced to the calls that name
// values, __print_flags and __print_symbolic, as far as they are whole; we never print with the
// rest. Nothing when the field lines are damaged.
std::optional<std::string> guarded_format(std::string_view text);

}  // namespace memtrace
