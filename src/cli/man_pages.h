// The manual pages as text, built into the program so that `memtrace help` needs no installed man.
#pragma once

#include <span>
#include <string_view>

namespace memtrace {

struct ManPage {
  std::string_view name;  // "memtrace", "memtrace-record"
  std::string_view text;  // 78 columns, ASCII, no overstrike
};

// By name, in ascending order. Defined in a file that man/CMakeLists.txt generates.
std::span<const ManPage> man_pages();

}  // namespace memtrace
