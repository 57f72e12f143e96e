#include "identity/memory_cgroup.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "os/procfs.h"

namespace memtrace {

// Where the memory controller has a hierarchy of
// its own it is the one that counts; 0 is that of version 2, which a hybrid machine has besides.
MemoryCgroup find_memory_cgroup(std::string_view cgroups) {
  constexpr auto kKinds = std::to_array<std::string_view>({"memory", "", "name=systemd"});
  std::array<MemoryCgroup, kKinds.size()> found;
  for (const std::string_view text : split(cgroups, '\n')) {
    const auto line = parse_cgroup_line(text);
    for (std::size_t i = 0; line && i < kKinds.size(); ++i) {
      if (line->has(kKinds[i])) {
        found[i] = {.path = line->path, .hierarchy = line->hierarchy};
      }
    }
  }
  const auto best =
      std::ranges::find_if(found, [](const MemoryCgroup& cgroup) { return !cgroup.path.empty(); });
  return best == found.end() ? MemoryCgroup() : *best;
}

}  // namespace memtrace
