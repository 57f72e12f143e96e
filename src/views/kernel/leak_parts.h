// What the memory of one origin consists of: the column "parts" of kleaks, "100 TCP, 100 filp".
#pragma once

#include <span>

#include "state/heap/live_block.h"
#include "views/kernel/leak_origins.h"

namespace memtrace {

// Adds the column to a table that has the key "origin" alone.
void add_parts(Table& table,
               std::span<const LiveBlock* const> blocks,
               const OriginContext& context);

}  // namespace memtrace
