#include "plan/events/event_traits.h"

#include <algorithm>
#include <array>

#include "plan/probes/sdt_event.h"
#include "tracepoints/decode/catalogue.h"
#include "tracepoints/decode/system_calls.h"
#include "views/kit/mapping_call_needs.h"

namespace memtrace {
namespace {

// What the findings of a report need (overview/finding.cpp). A kernel may lack some.
constexpr auto kDefaultViews = std::to_array<std::string_view>(
    {"oom", "enomem", "reclaim", "swapin", "compaction", "hfaults", "faults", "kleaks", "mmap"});

// The events of writeback and filepages that show a problem. Their other events come for each page.
constexpr auto kDefaultNeeds =
    std::to_array<std::string_view>({"kmem:kmalloc",
                                     "writeback:balance_dirty_pages|",
                                     "filemap:mm_filemap_add_to_page_cache|",
                                     "filemap:mm_filemap_delete_from_page_cache|"});
constexpr auto kDefaultParts = std::to_array<EventNarrowing>(
    {{"writeback:balance_dirty_pages", "", EventNarrowing::Stacks::None},
     {"filemap:mm_filemap_add_to_page_cache", "", EventNarrowing::Stacks::None},
     {"filemap:mm_filemap_delete_from_page_cache", "", EventNarrowing::Stacks::None}});

// System calls that change the table of mappings. munmap, mremap, shmdt and a shrinking brk come
// with no record; the others tell which part of a merged mapping is new
// (state/mapping/memory_maps.h).
constexpr auto kMemoryMapNeeds = joined(
    kMappingCallNeeds,
    std::to_array<std::string_view>({"syscalls:sys_enter_shmdt|", "syscalls:sys_exit_shmdt|"}));

// A field that all tracepoints have that were made of probes (Documentation/trace/kprobetrace.rst).
constexpr std::string_view kProbeField = "__probe_";

bool is_system_call(std::string_view name) {
  return name.starts_with("syscalls:") || name.starts_with("raw_syscalls:");
}

}  // namespace

std::span<const std::string_view> default_views() {
  return kDefaultViews;
}

std::span<const std::string_view> default_needs() {
  return kDefaultNeeds;
}

std::span<const EventNarrowing> default_parts() {
  return kDefaultParts;
}

std::span<const std::string_view> memory_map_needs() {
  return kMemoryMapNeeds;
}

bool changes_mappings(std::string_view name) {
  return is_raw_call_event(name) ||
         std::ranges::any_of(kMemoryMapNeeds, [name](std::string_view need) {
           return need.substr(0, need.size() - 1) == name;
         });
}

void ask_who_takes_memory(std::vector<EventRequest>& requests) {
  for (EventRequest& request : requests) {
    const std::string& name = request.info.name;
    if (name == "syscalls:sys_enter_mmap" || name == "syscalls:sys_enter_mremap" ||
        name == "syscalls:sys_enter_brk" || is_raw_entry(name)) {
      request.stacks = true;
      request.user_stack = true;
      request.on_user_code = true;  // whole user stacks, as those of the allocators' calls
    }
  }
}

bool is_paired(std::string_view name) {
  const EventRole role = role_of(name);
  return is_system_call(name) || role == EventRole::Begin || role == EventRole::End;
}

bool is_in_bursts(const EventRequest& request) {
  return request.type == kTypeTracepoint && !request.on_user_code &&
         !is_of_task(request.info.name) &&
         request.info.format.find(kProbeField) == std::string::npos;
}

void note_origin(EventRequest& request) {
  request.in_bursts = is_in_bursts(request);
  request.at_system_call = is_system_call(request.info.name);
  request.info.is_of_anybody = is_of_anybody(request.info.name);
}

bool has_stacks(std::string_view name, bool of_calls) {
  if (is_system_call(name)) {
    return of_calls && (name.starts_with("syscalls:sys_enter_") || is_raw_entry(name));
  }
  // A view pairs frees with allocations, and begins with ends: their own stacks are never shown.
  const EventRole role = role_of(name);
  return role != EventRole::Free && role != EventRole::Begin && !is_sdt_event(name);
}

}  // namespace memtrace
