#include "views/mapping/memory_limits.h"

#include <array>
#include <vector>

#include "base/text.h"

namespace memtrace {
namespace {

constexpr auto kProcessColumns = std::to_array<LimitColumn>({
    {"vm_size"},
    {"rlimit_as"},
    {"vm_data"},
    {"rlimit_data"},
    {"mappings", Unit::Count},
    {"max_map_count", Unit::Count},
});
constexpr auto kMachineColumns = std::to_array<LimitColumn>({
    {"committed"},
    {"commit_limit"},
    {"overcommit_memory", Unit::Number},
    {"available"},
    {"cgroup_usage"},
    {"cgroup_limit"},
});

}  // namespace

std::span<const LimitColumn> process_limit_columns() {
  return kProcessColumns;
}

std::span<const LimitColumn> machine_limit_columns() {
  return kMachineColumns;
}

bool has_process_limits(const Observation& limits) {
  return limits.facts.number("rlimit_as") != nullptr || limits.facts.text("rlimit_as") != nullptr;
}

std::string exceeded_limits(const SystemCallDone& done, const Observation& limits) {
  std::vector<std::string> names;
  for (const Reason& reason : reasons_of(done, limits.facts)) {
    names.emplace_back(reason.name);
  }
  return join(names, ", ");
}

}  // namespace memtrace
