#include "state/process/module_table.h"

namespace memtrace {

ModuleTable::ModuleTable()
    : kernel_(intern({.kind = ModuleKind::Kernel, .path = "[kernel.kallsyms]"})) {}

ModuleId ModuleTable::intern(const Module& module) {
  std::string key = module.path + '\0' + module.build_id;
  if (module.kind == ModuleKind::Anonymous) {
    key += '\0' + std::to_string(module.pid);
  } else if (module.inode != 0) {
    for (const std::uint64_t number :
         {std::uint64_t{module.major}, std::uint64_t{module.minor}, module.inode}) {
      key += '\0' + std::to_string(number);
    }
  }
  const std::lock_guard lock(mutex_);
  const auto [found, is_new] =
      ids_.try_emplace(std::move(key), ModuleId{static_cast<std::uint32_t>(modules_.size() + 1)});
  if (is_new) {
    modules_.push_back(module);
  }
  return found->second;
}

}  // namespace memtrace
