#include "pipeline/event_needs.h"

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
