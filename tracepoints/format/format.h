// The text of an event's tracefs format file to an EventFormat, by libtraceevent.
#pragma once

#include <string_view>

#include "base/result.h"
#include "tracepoints/format/field.h"

namespace memtrace {

// `system` is the event's group ("kmem"), which the text itself does not name. All fields are there
// even when the print fmt cannot be parsed; then none has flags or symbols. From one thread at a
// time: libtraceevent 1.7.1 keeps its tokenizer in statics.
Result<EventFormat> parse_format(std::string_view text, std::string_view system);

}  // namespace memtrace
