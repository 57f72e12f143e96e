// What is given up when memtrace falls behind, in a chunk that was just drained.
#pragma once

#include "perf/live/chunk.h"
#include "perf/live/chunk_queue.h"
#include "perf/record/record_parser.h"

namespace memtrace {

// Entries of each part of a callchain, kernel and user, that a cut stack keeps.
inline constexpr std::size_t kCutStackEntries = 8;

// Bytes of a copied stack that a cut one keeps.
inline constexpr std::size_t kCutStackBytes = 1024;

// Shortens callchains and copied stacks or drops samples in place, as the level says, in the chunk
// from this offset on, and counts in the chunk what it did. Other records stay.
void apply_overload(Chunk& chunk,
                    Overload level,
                    const RecordParser& parser,
                    std::size_t from_bytes = 0);

}  // namespace memtrace
