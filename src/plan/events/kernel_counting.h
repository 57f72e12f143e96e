// Which events the kernel may count without making samples of them.
#pragma once

#include <span>

#include "perf/event/event_attr.h"

namespace memtrace {

// Marks the events for which a count says as much as samples would.
void count_in_kernel(std::span<EventRequest> requests);

}  // namespace memtrace
