// Every file (and the kernel, the vdso, anonymous code) that addresses were seen in.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/ids.h"
#include "state/process/steady_vector.h"
#include "symbolize/elf/code_location.h"

namespace memtrace {

struct Module {
  ModuleKind kind = ModuleKind::Unknown;
  std::string path;      // as mapped: "/usr/lib/libc.so.6", "[kernel.kallsyms]", "[vdso]", "//anon"
  std::string build_id;  // lower-case hex, "" when not known
  std::uint32_t pid = 0;  // a process that maps it, to find it through /proc/PID/root
  std::string root = {};  // that process's root directory; "" for our own, or when not known
  std::uint32_t major = 0, minor = 0;  // of File: its device
  std::uint64_t inode = 0;             // 0 when not known
};

// Any thread may use it.
class ModuleTable {
 public:
  ModuleTable();

  // The module for all kernel addresses: kernel modules differ in addresses, not in ModuleId.
  ModuleId kernel() const { return kernel_; }

  // Same path, file and build id: same module; below chroot(2) another file may have the same path.
  // Anonymous code is one module for each process.
  ModuleId intern(const Module& module);

  const Module& at(ModuleId id) const { return modules_[id.value - 1]; }

  std::size_t size() const { return modules_.size(); }

 private:
  SteadyVector<Module> modules_;
  std::mutex mutex_;  // of those who add
  std::unordered_map<std::string, ModuleId> ids_;
  ModuleId kernel_;
};

}  // namespace memtrace
