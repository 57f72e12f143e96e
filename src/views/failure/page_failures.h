// Allocations of the kernel itself that got nothing: pages, and objects of kmalloc.
#pragma once

#include <optional>

#include "report/report.h"
#include "tracepoints/event/event.h"
#include "views/kit/keys.h"
#include "views/reason/page_reasons.h"

namespace memtrace {

// Nothing for any other event.
std::optional<BlockRequest> failed_request(const Event& event,
                                           std::uint64_t page_bytes,
                                           std::span<const FlagName> gfp_flags);

// Free blocks by zone, migrate type and order when the last one failed.
Table free_block_table(const Observation& seen);

}  // namespace memtrace
