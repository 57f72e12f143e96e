// Why the kernel's allocator had no block of pages, by what /proc said of its zones a moment later.
#pragma once

#include <cstdint>
#include <string>

#include "state/world/observations.h"
#include "views/reason/reason.h"

namespace memtrace {

struct BlockRequest {
  std::uint32_t order = 0;
  std::uint64_t bytes = 0;
  std::string gfp = {};     // "GFP_ATOMIC|__GFP_COMP"; "" when it is not known
  std::string object = {};  // "kmalloc" or a cache that asked for it; "": pages were asked for
};

// Null: /proc was not read.
Reason reason_of(const BlockRequest& request, const Observation* seen);

// The zone that a request without wishes is served from, and that the reason is about: the one with
// the most page blocks, or the most free memory where they are not known. Null without zones.
const Facts* main_zone(const Observation& seen);

}  // namespace memtrace
