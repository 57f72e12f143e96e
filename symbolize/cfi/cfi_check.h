// Whether call frame information asks for no more memory than any compiler's: libdw makes room for
// every register that is named, 16 bytes for each number below, and copies it all for each state
// that is remembered. A file of a few bytes would take all memory.
#pragma once

#include "symbolize/elf/elf_file.h"

namespace memtrace {

// Checks .eh_frame with .eh_frame_hdr, which leads libdw to entries: only to entries that were
// checked. False also when they cannot be read from their start to their end, and without them.
bool is_modest_eh_frame(const ElfFile& file);

// Checks .debug_frame, unpacked.
bool is_modest_debug_frame(const ElfFile& file);

}  // namespace memtrace
