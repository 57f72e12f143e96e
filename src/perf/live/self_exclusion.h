// What a recording of the whole machine leaves out: events that memtrace makes by recording.
#pragma once

#include <string_view>

namespace memtrace {

// Of an event that came in memtrace's own context: whether it is of memtrace's own memory, and no
// news.
bool is_of_own_memory(std::string_view event);

}  // namespace memtrace
