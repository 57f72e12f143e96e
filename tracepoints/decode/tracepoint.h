// From a sample's raw bytes to an event's payload: what each known event means.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>

#include "base/result.h"
#include "tracepoints/event/event.h"

namespace memtrace {

// What a decoder needs of a sample.
struct RawSample {
  std::span<const std::byte> raw;  // the tracepoint's fields
  std::uint64_t address = 0;       // PERF_SAMPLE_ADDR
  std::uint64_t ip = 0;
  std::uint64_t physical_address = 0;  // PERF_SAMPLE_PHYS_ADDR
};

// monostate for a sample that is too short for the event's fields: it is malformed. Texts in the
// payload borrow from the sample.
using Decoder = std::function<EventPayload(const RawSample&)>;

// An event with a typed payload. bind looks the fields up once; the decoder then reads by offset.
// bind's error names the event and the field that its format lacks.
struct Tracepoint {
  std::string_view name;  // "kmem:kmalloc", "page-faults"
  Result<Decoder> (*bind)(const EventFormat& format) = nullptr;
};

// One list for each group of events; find_tracepoint looks through them all.
std::span<const Tracepoint> slab_tracepoints();
std::span<const Tracepoint> page_tracepoints();
std::span<const Tracepoint> fault_tracepoints();
std::span<const Tracepoint> resident_tracepoints();
std::span<const Tracepoint> system_call_tracepoints();
std::span<const Tracepoint> reclaim_tracepoints();
std::span<const Tracepoint> oom_tracepoints();
std::span<const Tracepoint> compaction_tracepoints();
std::span<const Tracepoint> migrate_tracepoints();
std::span<const Tracepoint> huge_memory_tracepoints();
std::span<const Tracepoint> writeback_tracepoints();

// Stands for every event of heap.h: their names are not known beforehand, their fields are.
const Tracepoint& heap_probe();

// Likewise for every event of arena.h.
const Tracepoint& arena_probe();

// nullptr for an event without a typed payload. Modifiers as perf record writes them into names
// ("kmem:kmalloc:k", "page-faults:u") and short names ("faults") do not matter.
const Tracepoint* find_tracepoint(std::string_view name);

// For an event without a typed payload, a decoder that always yields monostate.
Result<Decoder> decoder_for(const EventType& type);

}  // namespace memtrace
