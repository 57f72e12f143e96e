#include "plan/events/event_traits.h"

#include <algorithm>
#include <array>

#include "plan/probes/sdt_event.h"
#include "tracepoints/decode/system_calls.h"
#include "views/kit/mapping_call_needs.h"

namespace memtrace {
namespace {

// What a recording holds when nothing was asked for: who allocates, who faults, and whether the
// machine is short of memory. All but the first may be missing in a kernel.
constexpr auto kDefaultNeeds = std::to_array<std::string_view>(
    {"kmem:kmalloc", "kmem:mm_page_alloc|", "exceptions:page_fault_user|", "vmscan:*|", "oom:*|"});

// A view pairs frees with allocations and never shows where the free was: no stack for them.
constexpr auto kFrees = std::to_array<std::string_view>({"kmem:kfree",
                                                         "kmem:kmem_cache_free",
                                                         "kmem:mm_page_free",
                                                         "kmem:mm_page_free_direct",
                                                         "kmem:mm_pagevec_free"});

// System calls that change the table of mappings. munmap, mremap, shmdt and a shrinking brk come
// with no record; the others tell which part of a merged mapping is new
// (state/mapping/memory_maps.h).
constexpr auto kMemoryMapNeeds = joined(
    kMappingCallNeeds,
    std::to_array<std::string_view>({"syscalls:sys_enter_shmdt|", "syscalls:sys_exit_shmdt|"}));

// Begins of pieces of the kernel's work, and what is told on the way: the end comes from the same
// function and has the stack. Of any group: they were in kmem on 2.6.32.
constexpr auto kBegins = std::to_array<std::string_view>({"mm_vmscan_direct_reclaim_begin",
                                                          "mm_vmscan_memcg_reclaim_begin",
                                                          "mm_vmscan_memcg_softlimit_reclaim_begin",
                                                          "mm_vmscan_node_reclaim_begin",
                                                          "mm_vmscan_kswapd_wake",
                                                          "mm_shrink_slab_start",
                                                          "mm_compaction_begin",
                                                          "mm_compaction_suitable",
                                                          "mm_compaction_finished",
                                                          "mm_compaction_try_to_compact_pages",
                                                          "mm_compaction_migratepages",
                                                          "mm_migrate_pages_start"});

constexpr auto kEnds = std::to_array<std::string_view>({"mm_vmscan_direct_reclaim_end",
                                                        "mm_vmscan_memcg_reclaim_end",
                                                        "mm_vmscan_memcg_softlimit_reclaim_end",
                                                        "mm_vmscan_node_reclaim_end",
                                                        "mm_vmscan_kswapd_sleep",
                                                        "mm_shrink_slab_end",
                                                        "mm_compaction_end",
                                                        "mm_migrate_pages"});

// Groups of events that user code itself causes, and ends of reclaim in its stead.
constexpr auto kCausedByUsers =
    std::to_array<std::string_view>({"exceptions", "syscalls", "raw_syscalls", "oom", "signal"});
constexpr auto kOwnReclaim = std::to_array<std::string_view>(
    {"mm_vmscan_direct_reclaim_end", "mm_vmscan_memcg_reclaim_end"});

// A field that all tracepoints have that were made of probes (Documentation/trace/kprobetrace.rst).
constexpr std::string_view kProbeField = "__probe_";

bool is_one_of(std::span<const std::string_view> names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

// "vmscan:mm_shrink_slab_end" -> "mm_shrink_slab_end".
std::string_view without_group(std::string_view name) {
  return name.substr(name.find(':') + 1);
}

bool is_system_call(std::string_view name) {
  return name.starts_with("syscalls:") || name.starts_with("raw_syscalls:");
}

}  // namespace

std::span<const std::string_view> default_needs() {
  return kDefaultNeeds;
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
  return is_system_call(name) || is_one_of(kBegins, without_group(name)) ||
         is_one_of(kEnds, without_group(name));
}

bool is_in_bursts(const EventRequest& request) {
  const std::string_view name = request.info.name;
  return request.type == kTypeTracepoint && !request.on_user_code &&
         !is_one_of(kCausedByUsers, name.substr(0, name.find(':'))) &&
         !is_one_of(kOwnReclaim, without_group(name)) &&
         request.info.format.find(kProbeField) == std::string::npos;
}

void note_origin(EventRequest& request) {
  request.in_bursts = is_in_bursts(request);
  request.at_system_call = is_system_call(request.info.name);
}

bool has_stacks(std::string_view name, bool of_calls) {
  if (is_system_call(name)) {
    return of_calls && (name.starts_with("syscalls:sys_enter_") || is_raw_entry(name));
  }
  return !is_one_of(kFrees, name) && !is_sdt_event(name) &&
         !is_one_of(kBegins, without_group(name));
}

}  // namespace memtrace
