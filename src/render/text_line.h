// Lines of a terminal: how wide text is, and how it is cut, padded and wrapped to fit. Text from
// outside (command names, paths) is UTF-8 at best.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace memtrace {

// Columns that the text takes: its code points. Wide (East Asian) characters count as one.
std::size_t width_of(std::string_view text);

// At most `width` columns; what is left out is marked by "...".
std::string cut_end(std::string_view text, std::size_t width);
std::string cut_middle(std::string_view text, std::size_t width);

std::string pad_right(std::string text, std::size_t width);
std::string pad_left(const std::string& text, std::size_t width);

// Broken at spaces; the second and later lines are indented. A word wider than the line stays
// whole: it may be a path or a command to copy.
std::vector<std::string> wrap(std::string_view text, std::size_t width, std::size_t indent);

}  // namespace memtrace
