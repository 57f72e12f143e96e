// The key "cache" of slab objects, and the context that a view with this key hands out.
#pragma once

#include "views/kernel/alloc_flow.h"
#include "views/kernel/cache_names.h"
#include "views/kit/cells.h"

namespace memtrace {

struct CacheContext : FlowContext {
  const CacheNames& names;
};

// A recording has many events before the one that says which cache an object is of.
inline constexpr KeySpec kCacheKey{
    .name = "cache",
    .unit = Unit::Text,
    .of = [](const Event& event) { return CacheNames::key_of(event); },
    .of_block = [](const LiveBlock& block) { return CacheNames::key_of(block); },
    .cell =
        [](std::uint64_t word, const CellContext& context) {
          return unless_empty(own_context<CacheContext>(context).names.name(word, context.world));
        },
    .resolve_late =
        [](std::uint64_t word, const CellContext& context) {
          return own_context<CacheContext>(context).names.resolve_late(word);
        }};

}  // namespace memtrace
