// From the addresses that a linker gave back to offsets in the file: what a uprobe is placed by.
#pragma once

#include <cstdint>
#include <optional>

#include "symbolize/elf/elf_file.h"

namespace memtrace {

// Nothing for an address that is not loaded from the file: .bss, another file's.
std::optional<std::uint64_t> file_offset_of(const ElfFile& file, std::uint64_t svma);

}  // namespace memtrace
