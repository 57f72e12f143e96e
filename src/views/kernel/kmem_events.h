// The events of the kmem group by their content, and the notes about them that several views share.
#pragma once

#include <string_view>

#include "tracepoints/event/event.h"

namespace memtrace {

bool is_kmalloc(const EventType& type);
bool is_slab_alloc(const EventType& type);  // kmalloc included
bool is_slab_free(const EventType& type);
bool is_page_event(const EventType& type);

inline constexpr std::string_view kSampledNote =
    "only one in N events was sampled: counts and bytes are multiplied by N, but live figures "
    "cover only the sampled blocks, whose frees may not have been sampled";
inline constexpr std::string_view kNoNodesNote =
    "the recording has no NUMA nodes of the CPUs, which memtrace record stores: columns about "
    "other nodes are blank";
inline constexpr std::string_view kNoFreesNote =
    "the recording has no frees, so live figures are not known";

}  // namespace memtrace
