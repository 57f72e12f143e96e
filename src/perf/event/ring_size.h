// How large the rings are that the kernel writes records into.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/result.h"
#include "perf/event/event_setup.h"

namespace memtrace {

inline constexpr std::size_t kSmallestRing = std::size_t{64} << 10U;

// Smaller ones have no room for copied stacks: this one holds 900 of 4 KiB, the next 900 of 8.
inline constexpr std::size_t kSmallestStackRing = std::size_t{4} << 20U;
inline constexpr std::size_t kWholeStackRing = 2 * kSmallestStackRing;

// How many samples have copied stacks: of page faults and system calls some, of an allocator's
// calls or of all events many. With --max-overhead some, too: then the kernel clears less memory
// at the start, whose time would be missing to the programs.
enum class StackCopies { None, Some, Many };

// Large enough that a burst is not lost, small enough to be no burden: 64 MiB, less where that were
// more than 1/64 of the memory over all CPUs. With some copied stacks as much where it is 1/32 of
// the memory; with many where it is 1/16, and up to 256 MiB where that is 1/32 of it.
std::size_t default_ring_bytes(std::uint64_t total_memory_bytes,
                               std::size_t cpu_count,
                               StackCopies copies);

inline constexpr std::size_t kSmallestQueueBytes = std::size_t{16} << 20U;

// What records may take that were drained and are not merged yet, before stacks are cut: a twelfth
// of the memory, at most 2 GiB, which is what copied stacks of 8 KiB take in a second.
std::size_t queue_limit_bytes(std::uint64_t total_memory_bytes);

// The same of this machine.
std::size_t queue_limit_bytes();

// The ring size of each CPU for this setup on this machine. Error: Usage, more than half of the
// memory was asked for.
Result<std::size_t> choose_ring_bytes(const EventSetup& setup, std::size_t cpu_count);

}  // namespace memtrace
