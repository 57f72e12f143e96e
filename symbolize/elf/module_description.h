// What the symbolizer has to know of a module.
#pragma once

#include <cstdint>
#include <string>

#include "symbolize/elf/code_location.h"

namespace memtrace {

// The mapped file, from records of mappings and /proc/PID/maps. An inode of 0: not known.
struct FileNumbers {
  std::uint32_t major = 0, minor = 0;
  std::uint64_t inode = 0;
};

// state/process/module_table.h holds them.
struct ModuleDescription {
  ModuleKind kind = ModuleKind::Unknown;
  std::string path;      // as mapped; "[kernel.kallsyms]" for the kernel
  std::string build_id;  // lower-case hex, or ""
  std::uint32_t pid =
      0;  // of Anonymous: for /tmp/perf-PID.map; of File: whose /proc/PID/root to use
  std::string root = {};  // of that process, as it was when it mapped the file; "" for our own
  FileNumbers file = {};
};

}  // namespace memtrace
