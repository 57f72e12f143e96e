#include "tracepoints/decode/catalogue.h"

#include <algorithm>
#include <array>

#include "tracepoints/decode/arena.h"
#include "tracepoints/decode/heap.h"
#include "tracepoints/decode/software_events.h"

namespace memtrace {
namespace {

// Where the kernel defines the events, and what that is built by: mm/Makefile, mm/vmscan.c,
// kernel/trace/Kconfig. The order is that in which the doctor names options.
constexpr auto kGroups = std::to_array<EventGroup>({
    {.name = "heap", .option = "CONFIG_UPROBE_EVENTS", .is_of_task = true},
    {.name = "uprobe", .option = "CONFIG_UPROBE_EVENTS", .is_of_task = true},
    {.name = "sdt", .option = "CONFIG_UPROBE_EVENTS", .is_of_task = true},
    {.name = "syscalls",
     .events = &system_call_tracepoints,
     .option = "CONFIG_FTRACE_SYSCALLS",
     .is_of_task = true},
    {.name = "raw_syscalls", .is_of_task = true},
    {.name = "vmscan", .events = &reclaim_tracepoints, .is_of_anybody = true},
    {.name = "compaction",
     .events = &compaction_tracepoints,
     .option = "CONFIG_COMPACTION",
     .is_of_anybody = true},
    {.name = "migrate",
     .events = &migrate_tracepoints,
     .option = "CONFIG_MIGRATION",
     .is_of_anybody = true},
    {.name = "huge_memory",
     .events = &huge_memory_tracepoints,
     .option = "CONFIG_TRANSPARENT_HUGEPAGE"},
    {.name = "sched", .events = &sched_tracepoints},
    {.name = "kmem", .events = &slab_tracepoints, .is_for_views_alone = true},
    {.name = "kmem", .events = &page_tracepoints, .is_for_views_alone = true},
    {.name = "exceptions",
     .events = &fault_tracepoints,
     .is_of_task = true,
     .is_for_views_alone = true},
    {.name = "filemap", .events = &resident_tracepoints},
    {.name = "oom", .events = &oom_tracepoints, .is_of_task = true, .is_of_anybody = true},
    {.name = "signal", .is_of_task = true, .is_of_anybody = true},
    {.name = "writeback", .events = &writeback_tracepoints},
});

// "kmem:kmalloc:k" -> "kmem:kmalloc", "faults:u" -> "page-faults".
std::string_view without_modifiers(std::string_view name) {
  const std::size_t first = name.find(':');
  if (const auto software = find_software_event(name.substr(0, first))) {
    return software->name;
  }
  const std::size_t second = first == std::string_view::npos ? first : name.find(':', first + 1);
  return name.substr(0, second);
}

const EventGroup* group_of(std::string_view event) {
  const auto* const found =
      std::ranges::find(kGroups, event.substr(0, event.find(':')), &EventGroup::name);
  return found == kGroups.end() ? nullptr : found;
}

struct EventRow {
  const EventGroup* group = nullptr;
  const Tracepoint* tracepoint = nullptr;
};

// Both are null for an event that has no row.
EventRow find_row(std::string_view name) {
  const std::string_view wanted = without_modifiers(name);
  for (const EventGroup& group : kGroups) {
    const auto events = group.events == nullptr ? std::span<const Tracepoint>() : group.events();
    const auto found = std::ranges::find(events, wanted, &Tracepoint::name);
    if (found != events.end()) {
      return {.group = &group, .tracepoint = &*found};
    }
  }
  return {};
}

}  // namespace

std::span<const EventGroup> event_groups() {
  return kGroups;
}

const Tracepoint* find_tracepoint(std::string_view name) {
  if (is_heap_event(name)) {
    return &heap_probe();
  }
  if (is_arena_event(name)) {
    return &arena_probe();
  }
  return find_row(name).tracepoint;
}

bool is_for_views_alone(std::string_view name) {
  const EventGroup* group = find_row(name).group;
  return group != nullptr && group->is_for_views_alone;
}

Result<Decoder> decoder_for(const EventType& type) {
  const Tracepoint* tracepoint = find_tracepoint(type.name);
  if (tracepoint != nullptr && tracepoint->bind != nullptr) {
    return tracepoint->bind(type.format);
  }
  return Decoder([](const RawSample&) { return RawPayload(); });
}

EventRole role_of(std::string_view name) {
  const Tracepoint* tracepoint = find_tracepoint(name);
  return tracepoint == nullptr ? EventRole::Point : tracepoint->role;
}

bool is_of_task(std::string_view name) {
  const EventGroup* group = group_of(name);
  const Tracepoint* tracepoint = find_tracepoint(name);
  return (group != nullptr && group->is_of_task) ||
         (tracepoint != nullptr && tracepoint->is_of_task);
}

// The name of an event without a row says whether it is a free ("kmem:mm_page_free_batched").
bool is_of_anybody(std::string_view name) {
  const EventGroup* group = group_of(name);
  const Tracepoint* tracepoint = find_tracepoint(name);
  if (group != nullptr && group->is_of_anybody) {
    return true;
  }
  // Reclaim had its events in kmem on 2.6.32.
  const bool is_of_reclaim = name.find(":mm_vmscan_") != std::string_view::npos;
  return is_of_reclaim || (tracepoint != nullptr && tracepoint->role == EventRole::Free) ||
         name.find("free") != std::string_view::npos;
}

}  // namespace memtrace
