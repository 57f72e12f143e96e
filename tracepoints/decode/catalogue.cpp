// All events with a typed payload, by name.
#include <algorithm>
#include <array>

#include "tracepoints/decode/arena.h"
#include "tracepoints/decode/heap.h"
#include "tracepoints/decode/software_events.h"
#include "tracepoints/decode/tracepoint.h"

namespace memtrace {
namespace {

// "kmem:kmalloc:k" -> "kmem:kmalloc", "faults:u" -> "page-faults".
std::string_view without_modifiers(std::string_view name) {
  const std::size_t first = name.find(':');
  if (const auto software = find_software_event(name.substr(0, first))) {
    return software->name;
  }
  const std::size_t second = first == std::string_view::npos ? first : name.find(':', first + 1);
  return name.substr(0, second);
}

}  // namespace

const Tracepoint* find_tracepoint(std::string_view name) {
  if (is_heap_event(name)) {
    return &heap_probe();
  }
  if (is_arena_event(name)) {
    return &arena_probe();
  }
  const std::string_view wanted = without_modifiers(name);
  const std::array groups = {slab_tracepoints(),
                             page_tracepoints(),
                             fault_tracepoints(),
                             resident_tracepoints(),
                             system_call_tracepoints(),
                             reclaim_tracepoints(),
                             oom_tracepoints(),
                             compaction_tracepoints(),
                             migrate_tracepoints(),
                             huge_memory_tracepoints(),
                             writeback_tracepoints()};
  for (const std::span<const Tracepoint> group : groups) {
    const auto found = std::find_if(
        group.begin(), group.end(), [&](const Tracepoint& one) { return one.name == wanted; });
    if (found != group.end()) {
      return &*found;
    }
  }
  return nullptr;
}

Result<Decoder> decoder_for(const EventType& type) {
  if (const Tracepoint* tracepoint = find_tracepoint(type.name)) {
    return tracepoint->bind(type.format);
  }
  return Decoder([](const RawSample&) { return EventPayload(); });
}

}  // namespace memtrace
