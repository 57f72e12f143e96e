// Text from traced processes and files on its way to a terminal. Names of threads, files and
// functions may hold anything: sequences that rewrite the screen, or letters that turn the reading
// direction and show another name than the one that is there.
#pragma once

#include <string>
#include <string_view>

namespace memtrace {

// The same with \x1b, \u009b and the like for what is not printed as itself: control characters,
// those of Unicode's bidirectional algorithm and line ends, and bytes that are no UTF-8. Nothing is
// left to make visible a second time.
std::string visible(std::string_view text);

// The same of several lines, which stay apart, with tabs in them.
std::string visible_lines(std::string_view text);

}  // namespace memtrace
