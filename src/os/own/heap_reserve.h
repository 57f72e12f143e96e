// Memory for malloc(3) that is taken before it is asked for.
#pragma once

#include <cstddef>

namespace memtrace {

// From now on malloc of this process has one arena that does not shrink, and this much of it has
// been touched: until more than that is in use at once, malloc asks the kernel for nothing. Called
// while no other thread runs. Returns what was taken: less where the kernel gave no more.
std::size_t take_heap(std::size_t size_bytes);

}  // namespace memtrace
