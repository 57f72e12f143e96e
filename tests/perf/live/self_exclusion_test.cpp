#include "perf/live/self_exclusion.h"

#include <gtest/gtest.h>

namespace memtrace::test {
namespace {

TEST(OwnWork, allocations_and_faults_are_of_memtraces_own_memory) {
  for (const char* event : {"kmem:kmalloc",
                            "kmem:mm_page_alloc",
                            "page-faults",
                            "exceptions:page_fault_user",
                            "syscalls:sys_enter_mmap",
                            "memtrace_1:malloc",
                            "filemap:mm_filemap_add_to_page_cache"}) {
    EXPECT_TRUE(is_of_own_memory(event)) << event;
  }
}

TEST(OwnWork, what_it_frees_reclaims_moves_and_kills_may_be_anybodys) {
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
                            "signal:signal_generate",
                            "memtrace_kernel_1:oom_kill_process",
                            "memtrace_kernel_1:swap_readpage"}) {
    EXPECT_FALSE(is_of_own_memory(event)) << event;
  }
}

}  // namespace
}  // namespace memtrace::test
