// The catalogue of events: what memtrace knows of each stands once, in the row of its Tracepoint,
// and what all events of a group of tracefs share in the group's row. Which events to record, what
// the doctor says, which kernel options matter and what is memtrace's own doing is read from here.
#pragma once

#include <span>
#include <string_view>

#include "tracepoints/decode/tracepoint.h"

namespace memtrace {

struct EventGroup {
  std::string_view name;                              // of tracefs: "vmscan"
  std::span<const Tracepoint> (*events)() = nullptr;  // null: only what the row says is known
  std::string_view option = {};                       // without which the kernel has none of them
  // User code itself causes the events; else they are the kernel's own work, and come in bursts.
  bool is_of_task = false;
  // Their pages and processes can be anybody's, in any task's context.
  bool is_of_anybody = false;
  // Only views that take the events need them: they change nothing that other events are read by.
  bool is_for_views_alone = false;
};

std::span<const EventGroup> event_groups();

// nullptr for an event that has no row. Modifiers as perf record writes them into names
// ("kmem:kmalloc:k", "page-faults:u") and short names ("faults") do not matter.
const Tracepoint* find_tracepoint(std::string_view name);

// Without a view for the event, its count is all that a report needs of it.
bool is_for_views_alone(std::string_view name);

// For an event without a typed payload, a decoder that always yields monostate.
Result<Decoder> decoder_for(const EventType& type);

// Point for an event without a row.
EventRole role_of(std::string_view name);

// Caused by user code itself.
bool is_of_task(std::string_view name);

// What the event says may be of others than the process that it comes in: the page allocator makes
// who allocates reclaim, compact or kill (mm/page_alloc.c, __alloc_pages_slowpath), and a block may
// be freed by an interrupt or an RCU callback.
bool is_of_anybody(std::string_view name);

}  // namespace memtrace
