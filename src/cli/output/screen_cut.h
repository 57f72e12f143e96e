// --clear: a report that is longer than the screen would show its end alone.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace memtrace {

// At most this many lines: the first, how many are left out, and the first of the caveats, which
// say what was lost. 0 rows: all.
std::string cut_to_screen(std::string_view text, std::size_t rows);

}  // namespace memtrace
