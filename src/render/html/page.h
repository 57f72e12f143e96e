// The page of the HTML format, which the build makes from page.html.
#pragma once

#include <string_view>

namespace memtrace {

// With "@DATA@" where the report's JSON belongs.
std::string_view html_page();

}  // namespace memtrace
