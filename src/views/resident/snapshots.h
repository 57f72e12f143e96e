// What /proc said was resident, at the begin or the end of what is reported.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "state/world/resident_snapshot.h"
#include "state/world/world.h"

namespace memtrace {

// Of one process; nothing without a reading of it up to that time.
inline std::optional<ResidentSnapshot> snapshot_of(const World& world,
                                                   std::string_view reader,
                                                   std::uint32_t pid,
                                                   std::uint64_t until_ns) {
  const Observation* seen = world.observations().last(reader);
  if (seen == nullptr || seen->time_ns > until_ns) {
    return std::nullopt;
  }
  for (const Facts& facts : seen->rows) {
    const std::uint64_t* known = facts.number("pid");
    if (known != nullptr && *known == pid) {
      return resident_snapshot(facts);
    }
  }
  return std::nullopt;
}

}  // namespace memtrace
