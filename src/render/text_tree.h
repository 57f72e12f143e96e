// A call tree of the text format: a line for each function, with how much comes through it.
#pragma once

#include <cstddef>
#include <ostream>

#include "report/report.h"

namespace memtrace {

//   bytes   share      own
// 1.4 MiB  100.0%           main (demo.cpp:42)
//                           load_all (demo.cpp:20)
// 1.0 MiB   71.4%  1.0 MiB  |- read_file (demo.cpp:9)
// 0.4 MiB   28.6%           `- (12 others)
//
// Functions with one caller and one callee stand below each other. Where the innermost function
// comes first, all of it is its own.
void print_tree(const Report& report, const CallTree& tree, std::size_t width, std::ostream& out);

}  // namespace memtrace
