// What the symbolizer has to know of a module.
#pragma once

#include <cstdint>
#include <string>

#include "symbolize/code_location.h"

namespace memtrace {

// state/module_table.h holds them.
struct ModuleDescription {
  ModuleKind kind = ModuleKind::Unknown;
  std::string path;      // as mapped; "[kernel.kallsyms]" for the kernel
  std::string build_id;  // lower-case hex, or ""
  std::uint32_t pid =
      0;  // of Anonymous: for /tmp/perf-PID.map; of File: whose /proc/PID/root to use
};

}  // namespace memtrace
