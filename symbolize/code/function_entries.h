// The first instructions of a file's functions, from its symbols. There nothing is pushed yet, so
// the caller is known even where the file has no call frame information: musl's libc, and assembly.
#pragma once

#include <cstdint>
#include <vector>

#include "symbolize/elf/debug_files.h"
#include "symbolize/elf/module_description.h"

namespace memtrace {

class FunctionEntries {
 public:
  // For a mapped file, wherever it can be found now; empty when it is not, or has no symbols.
  FunctionEntries(const ModuleDescription& module, const DebugPlaces& places);

  bool contains(std::uint64_t file_offset) const;

 private:
  std::vector<std::uint64_t> offsets_;  // ascending
};

}  // namespace memtrace
