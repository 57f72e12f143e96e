#include "tracepoints/decode/catalogue.h"

#include <gtest/gtest.h>

#include <set>

namespace memtrace::test {
namespace {

TEST(Catalogue, allocations_and_faults_are_of_who_makes_them) {
  for (const char* event : {"kmem:kmalloc",
                            "kmem:mm_page_alloc",
                            "page-faults",
                            "exceptions:page_fault_user",
                            "syscalls:sys_enter_mmap",
                            "memtrace_1:malloc",
                            "filemap:mm_filemap_add_to_page_cache"}) {
    EXPECT_FALSE(is_of_anybody(event)) << event;
  }
}

TEST(Catalogue, what_is_freed_reclaimed_moved_and_killed_may_be_anybodys) {
  for (const char* event : {"kmem:kfree",
                            "kmem:mm_page_free_batched",
                            "kmem:kmem_cache_free",
                            "vmscan:mm_vmscan_direct_reclaim_begin",
                            "vmscan:mm_vmscan_write_folio",
                            "vmscan:mm_shrink_slab_end",
                            "kmem:mm_vmscan_writepage",
                            "compaction:mm_compaction_migratepages",
                            "migrate:mm_migrate_pages",
                            "oom:mark_victim",
                            "signal:signal_generate"}) {
    EXPECT_TRUE(is_of_anybody(event)) << event;
  }
}

// What is mapped, called and begun changes how later events are read.
TEST(Catalogue, kernel_blocks_and_faults_are_for_their_views_alone) {
  for (const char* event : {"kmem:kmalloc",
                            "kmem:kmem_cache_free:k",
                            "kmem:mm_page_alloc",
                            "percpu:percpu_alloc_percpu",
                            "exceptions:page_fault_user",
                            "minor-faults",
                            "faults:u"}) {
    EXPECT_TRUE(is_for_views_alone(event)) << event;
  }
  for (const char* event : {"syscalls:sys_exit_mmap",
                            "vmscan:mm_vmscan_direct_reclaim_begin",
                            "memtrace_1:malloc",
                            "memtrace_1:cache_alloc",
                            "kmem:mm_page_alloc_extfrag",
                            "sched:sched_switch"}) {
    EXPECT_FALSE(is_for_views_alone(event)) << event;
  }
}

TEST(Catalogue, rows_are_complete_and_stand_once) {
  std::set<std::string_view> names;
  for (const EventGroup& group : event_groups()) {
    for (const Tracepoint& one :
         group.events == nullptr ? std::span<const Tracepoint>() : group.events()) {
      EXPECT_TRUE(names.insert(one.name).second) << one.name << " stands twice";
      EXPECT_EQ(find_tracepoint(one.name), &one);
      if (!one.newer_name.empty()) {
        EXPECT_NE(find_tracepoint(one.newer_name), nullptr) << one.newer_name;
      }
    }
  }
  EXPECT_GT(names.size(), 100U);
}

}  // namespace
}  // namespace memtrace::test
