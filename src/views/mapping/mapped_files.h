// What is mapped, as a key: the path of the file, or the kind of memory where there is no file.
#pragma once

#include <cstdint>

#include "state/world/world.h"
#include "views/kit/keys.h"

namespace memtrace {

// 0: not known.
std::uint64_t mapped_file_word(const MemoryArea& area);

// "/lib/libc.so.6", "[heap]", "[anonymous]"; blank when it is not known.
Cell mapped_file_cell(std::uint64_t word, const CellContext& context);

}  // namespace memtrace
