// Finds the file on this machine that is a module of a recording: the one at its path may have been
// replaced since, or lie in the mount namespace of a container.
#pragma once

#include <optional>
#include <string>

#include "symbolize/elf/caveats.h"
#include "symbolize/elf/debug_files.h"
#include "symbolize/elf/elf_file.h"
#include "symbolize/elf/module_description.h"

namespace memtrace {

// Root directories to look for files under: that of the module's process first.
std::vector<std::string> roots_of(const ModuleDescription& module);

// The module's file, or its debug file by build id, or nothing and a caveat that says why.
std::optional<ElfFile> find_module_file(const ModuleDescription& module,
                                        const DebugPlaces& places,
                                        SymbolCaveats& caveats);

}  // namespace memtrace
