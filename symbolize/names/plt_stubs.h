// Names for the linker's stubs that jump to functions of other files: "malloc@plt".
#pragma once

#include "symbolize/elf/elf_file.h"
#include "symbolize/names/symbol_table.h"

namespace memtrace {

// x86-64 only: there a stub's jump names its slot, and the slot's relocation the function.
void add_plt_stubs(const ElfFile& file, SymbolTable& table);

}  // namespace memtrace
