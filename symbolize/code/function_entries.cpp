#include "symbolize/code/function_entries.h"

#include <algorithm>

#include "os/procfs.h"
#include "symbolize/code/function_table.h"
#include "symbolize/elf/module_file.h"

namespace memtrace {

FunctionEntries::FunctionEntries(const ModuleDescription& module, const DebugPlaces& places) {
  SymbolCaveats ignored;  // naming the same modules says them
  if (module.kind != ModuleKind::File) {
    return;
  }
  const auto file = find_module_file(module, places, ignored);
  const auto table = file ? FunctionTable::load(file->path(), without_deleted(module.path), places)
                          : Result<FunctionTable>(Error{});
  if (!table.ok()) {
    return;
  }
  for (const Function& function : table.value().functions()) {
    offsets_.push_back(function.file_offset);
  }
  std::ranges::sort(offsets_);
}

bool FunctionEntries::contains(std::uint64_t file_offset) const {
  return std::ranges::binary_search(offsets_, file_offset);
}

}  // namespace memtrace
