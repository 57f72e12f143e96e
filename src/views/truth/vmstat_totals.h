// What /proc/vmstat counted during the recording on the whole machine, in the totals of a report.
#pragma once

#include <initializer_list>
#include <string_view>
#include <vector>

#include "report/report.h"
#include "state/world/world.h"

namespace memtrace {

// Nothing where the counters are not known.
inline void add_vmstat_totals(std::vector<Total>& totals,
                              const World& world,
                              std::initializer_list<std::string_view> counters) {
  const World::VmstatGrowth& growth = world.vmstat_growth();
  for (const std::string_view name :
       growth.empty() ? std::initializer_list<std::string_view>() : counters) {
    const auto found = growth.find(std::string(name));
    totals.push_back({std::string(name), Unit::Count, found == growth.end() ? 0 : found->second});
  }
}

}  // namespace memtrace
