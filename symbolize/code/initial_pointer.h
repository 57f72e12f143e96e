// What a pointer variable of a file points at before any code has run: its initializer, which is a
// relocation in files that may be loaded anywhere.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "symbolize/elf/elf_file.h"

namespace memtrace {

// As an offset in the file, of code or data of the same file. Nothing for a variable that the file
// does not have or that points elsewhere.
std::optional<std::uint64_t> initial_target(const ElfFile& file, std::string_view variable);

}  // namespace memtrace
