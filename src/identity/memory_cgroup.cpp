#include "identity/memory_cgroup.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace memtrace {

// Lines are HIERARCHY:CONTROLLERS:PATH (cgroups(7)). Where the memory controller has a hierarchy of
// its own it is the one that counts; 0 is that of version 2, which a hybrid machine has besides.
MemoryCgroup find_memory_cgroup(std::string_view cgroups) {
  constexpr auto kKinds = std::to_array<std::string_view>({"memory", "", "name=systemd"});
  std::array<MemoryCgroup, kKinds.size()> found;
  for (const std::string_view line : split(cgroups, '\n')) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (first == std::string_view::npos || second == std::string_view::npos) {
      continue;
    }
    const auto controllers = split(line.substr(first + 1, second - first - 1), ',');
    for (std::size_t i = 0; i < kKinds.size(); ++i) {
      if (std::ranges::find(controllers, kKinds[i]) != controllers.end()) {
        found[i] = {.path = line.substr(second + 1),
                    .hierarchy = parse_number(line.substr(0, first))};
      }
    }
  }
  const auto best =
      std::ranges::find_if(found, [](const MemoryCgroup& cgroup) { return !cgroup.path.empty(); });
  return best == found.end() ? MemoryCgroup() : *best;
}

}  // namespace memtrace
