#include "identity/memory_cgroup.h"

#include "base/text.h"
#include "os/procfs.h"

namespace memtrace {
namespace {

MemoryCgroup cgroup_of_kind(std::string_view cgroups, std::string_view kind) {
  MemoryCgroup found;
  for (const std::string_view text : split(cgroups, '\n')) {
    const auto line = parse_cgroup_line(text);
    if (line && line->has(kind)) {
      found = {.path = line->path, .hierarchy = line->hierarchy};
    }
  }
  return found;
}

}  // namespace

// Where the memory controller has a hierarchy of
// its own it is the one that counts; 0 is that of version 2, which a hybrid machine has besides.
MemoryCgroup find_memory_cgroup(std::string_view cgroups) {
  for (const std::string_view kind : {"memory", "", "name=systemd"}) {
    MemoryCgroup found = cgroup_of_kind(cgroups, kind);
    if (!found.path.empty()) {
      return found;
    }
  }
  return {};
}

}  // namespace memtrace
