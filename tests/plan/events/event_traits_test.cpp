#include "plan/events/event_traits.h"

#include <gtest/gtest.h>

namespace memtrace {
namespace {

TEST(EventNeeds, frees_calls_and_begins_go_without_stacks) {
  for (const char* event : {"kmem:kfree",
                            "syscalls:sys_exit_mmap",
                            "vmscan:mm_vmscan_memcg_reclaim_begin",
                            "kmem:mm_vmscan_kswapd_wake",
                            "compaction:mm_compaction_suitable"}) {
    EXPECT_FALSE(has_stacks(event, false)) << event;
  }
  for (const char* event : {"kmem:kmalloc",
                            "vmscan:mm_vmscan_memcg_reclaim_end",
                            "migrate:mm_migrate_pages",
                            "oom:mark_victim"}) {
    EXPECT_TRUE(has_stacks(event, false)) << event;
  }
}

EventRequest tracepoint(const std::string& name) {
  return {.info = {.name = name}, .type = kTypeTracepoint};
}

// What user code causes has its stack copied; copies of what comes in bursts would be lost.
TEST(EventNeeds, the_kernels_own_work_comes_in_bursts) {
  for (const char* event : {"kmem:kmalloc",
                            "filemap:mm_filemap_add_to_page_cache",
                            "vmscan:mm_vmscan_lru_shrink_inactive",
                            "sched:sched_switch"}) {
    EXPECT_TRUE(is_in_bursts(tracepoint(event))) << event;
  }
  for (const char* event : {"exceptions:page_fault_user",
                            "syscalls:sys_enter_mmap",
                            "raw_syscalls:sys_enter",
                            "oom:mark_victim",
                            "vmscan:mm_vmscan_direct_reclaim_end",
                            "kmem:mm_vmscan_direct_reclaim_end"}) {
    EXPECT_FALSE(is_in_bursts(tracepoint(event))) << event;
  }
  EXPECT_FALSE(is_in_bursts({.info = {.name = "page-faults"}, .type = kTypeSoftware}));
  EventRequest probe = tracepoint("memtrace_heap_1:malloc");
  probe.on_user_code = true;
  EXPECT_FALSE(is_in_bursts(probe));
  probe = tracepoint("probe_libc:malloc");  // made by perf probe
  probe.info.format = "field:unsigned long __probe_ip;";
  EXPECT_FALSE(is_in_bursts(probe));
}

TEST(EventNeeds, origin_of_an_event_is_noted) {
  for (const char* event : {"syscalls:sys_enter_mmap", "raw_syscalls:sys_enter", "kmem:kmalloc"}) {
    EventRequest request = tracepoint(event);
    note_origin(request);
    EXPECT_EQ(request.at_system_call, request.info.name != "kmem:kmalloc") << event;
    EXPECT_EQ(request.in_bursts, request.info.name == "kmem:kmalloc") << event;
  }
}

TEST(EventNeeds, both_sides_of_a_pair_are_never_sampled_one_in_n) {
  for (const char* event : {"syscalls:sys_enter_brk",
                            "vmscan:mm_shrink_slab_start",
                            "vmscan:mm_shrink_slab_end",
                            "kmem:mm_vmscan_direct_reclaim_end",
                            "migrate:mm_migrate_pages_start"}) {
    EXPECT_TRUE(is_paired(event)) << event;
  }
  EXPECT_TRUE(has_stacks("syscalls:sys_enter_mmap", true));
  EXPECT_FALSE(is_paired("vmscan:mm_vmscan_write_folio"));
  EXPECT_FALSE(is_paired("kmem:kmalloc"));
}

}  // namespace
}  // namespace memtrace
