// Names of flags and symbols from the argument tree of an event's print fmt. Internal to
// tracepoints/.
#pragma once

#include <string_view>

#include "tracepoints/format/field.h"

struct tep_print_arg;

namespace memtrace {

// Gives the fields of `format` the names that __print_flags and __print_symbolic have for them.
// `text` is the whole format file: names whose value the kernel left as an enum's name (no
// TRACE_DEFINE_ENUM) are found in it and left out, for libtraceevent takes such a name for 0.
void add_value_names(const tep_print_arg* arguments, std::string_view text, EventFormat& format);

// True when an identifier stands in the expression that is not part of a cast:
// "(1 << VMSCAN_THROTTLE_ISOLATED)", but not "(unsigned long)(( gfp_t)0x400u)".
bool has_unresolved_name(std::string_view expression);

}  // namespace memtrace
