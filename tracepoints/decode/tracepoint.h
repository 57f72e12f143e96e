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
using Decoder = std::function<RawPayload(const RawSample&)>;

// What an event is to others.
enum class EventRole : std::uint8_t {
  Point,  // happens by itself
  Free,   // of what another event allocated, perhaps for somebody else
  Begin,  // or a step on the way: the End comes from the same function and has the stack
  End,
};

// A field that some kernels' format lacks, and what is not known without it.
struct OptionalField {
  std::string_view name;
  std::string_view when_missing;
};

// All that is known of one event of the kernel. bind looks the fields up once; the decoder then
// reads by offset. bind's error names the event and the field that its format lacks.
struct Tracepoint {
  std::string_view name;  // "kmem:kmalloc", "page-faults"
  // Null: without a typed payload.
  Result<Decoder> (*bind)(const EventFormat& format) = nullptr;
  EventRole role = EventRole::Point;
  std::string_view newer_name = {};    // of today's event that says the same: "kmem:mm_page_free"
  std::string_view option = {};        // of the kernel's configuration, beside its group's
  std::string_view when_missing = {};  // what is not known without the event
  OptionalField optional_field = {};
  bool is_of_task = false;  // the task's own doing, though the group is the kernel's own work
};

// The events of each decoder file; catalogue.cpp has a row for each of these lists.
std::span<const Tracepoint> slab_tracepoints();
std::span<const Tracepoint> page_tracepoints();
std::span<const Tracepoint> fault_tracepoints();
std::span<const Tracepoint> resident_tracepoints();
std::span<const Tracepoint> system_call_tracepoints();
std::span<const Tracepoint> reclaim_tracepoints();
std::span<const Tracepoint> oom_tracepoints();
std::span<const Tracepoint> compaction_tracepoints();
std::span<const Tracepoint> migrate_tracepoints();
std::span<const Tracepoint> sched_tracepoints();
std::span<const Tracepoint> huge_memory_tracepoints();
std::span<const Tracepoint> writeback_tracepoints();

// The row of every event of heap.h: their names are not known beforehand, their fields are.
const Tracepoint& heap_probe();

// The same for every event of arena.h.
const Tracepoint& arena_probe();

}  // namespace memtrace
