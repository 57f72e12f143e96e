// How many events may be opened: a pattern may match more functions than there are descriptors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/result.h"
#include "perf/target/target.h"

namespace memtrace {

// perf needs a descriptor for each event, task and CPU (perf/event/event_set.h).
struct DescriptorNeed {
  std::string event;  // as the user wrote it
  std::size_t event_count = 0;
  std::size_t task_count = 1;
  std::size_t cpu_count = 1;
};

// Error: Usage, `limit` does not suffice; says how many it may be.
Result<> check_descriptors(const DescriptorNeed& need, std::uint64_t limit);

// The same for a target on this machine, by the limit that this process can have.
Result<> check_descriptors(const std::string& event, std::size_t event_count, const Target& target);

}  // namespace memtrace
