// The vdso: the code that the kernel maps into every process, and that is in no file.
#pragma once

#include "base/result.h"
#include "symbolize/elf/elf_file.h"

namespace memtrace {

// A copy of our own, which is that of every process of the same word size on this kernel.
Result<ElfFile> open_vdso();

}  // namespace memtrace
