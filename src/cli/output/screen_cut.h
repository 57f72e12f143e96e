// --clear: a report that is longer than the screen would show its end alone.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace memtrace {

struct Screen {
  std::size_t rows = 0;     // 0: not known
  std::size_t columns = 0;  // 0: not known; else longer lines go on in the next row
};

// Text that takes at most the rows of this screen: the first lines, how many are left out, and the
// first of the caveats, which say what was lost. All, where the screen is not known.
std::string cut_to_screen(std::string_view text, const Screen& screen);

}  // namespace memtrace
