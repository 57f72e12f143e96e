// The events of the kmem group by what they tell, and the sentences that several views owe their
// readers about them.
#pragma once

#include <string_view>

#include "tracepoints/event/event.h"

namespace memtrace {

bool is_kmalloc(const EventType& type);
bool is_slab_alloc(const EventType& type);  // kmalloc included
bool is_slab_free(const EventType& type);
bool is_page_event(const EventType& type);

inline constexpr std::string_view kSampledNote =
    "only one in N events was sampled: counts and bytes are scaled up by N, but what is live is "
    "counted from the samples alone, whose frees may not have been sampled";
inline constexpr std::string_view kNoNodesNote =
    "the recording does not say which CPU is of which NUMA node, as those of memtrace record do: "
    "what happened on another node is blank";
inline constexpr std::string_view kNoFreesNote =
    "the recording holds no events of frees, so what is live is not known";

}  // namespace memtrace
