// How large processes were at the end, as /proc said.
#pragma once

#include <cstdint>
#include <set>

#include "report/report.h"
#include "state/world/world.h"

namespace memtrace {

// A row for each of these processes that still ran; none where nothing was read.
Table process_size_table(const World& world, const std::set<std::uint32_t>& pids);

}  // namespace memtrace
