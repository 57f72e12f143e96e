#include "session/page_allocator.h"

#include <gtest/gtest.h>

namespace memtrace {
namespace {

Frame kernel_frame(const char* function) {
  return {.function = function, .kernel = true};
}

TEST(PageAllocator, its_functions_of_all_kernels_are_known) {
  for (const char* function : {"__alloc_pages_nodemask",
                               "__alloc_pages",
                               "__alloc_pages_noprof",
                               "alloc_pages_current",
                               "alloc_pages_mpol",
                               "__alloc_frozen_pages_noprof",
                               "vma_alloc_folio_noprof",
                               "folio_alloc_noprof",
                               "__folio_alloc_noprof",
                               "__get_free_pages",
                               "get_zeroed_page_noprof",
                               "get_page_from_freelist",
                               "ftrace_profile_mm_page_alloc",
                               "__alloc_pages_slowpath.constprop.0"}) {
    EXPECT_TRUE(is_page_allocator({kernel_frame(function)})) << function;
  }
}

TEST(PageAllocator, who_calls_them_is_not) {
  for (const char* function : {"allocate_slab",
                               "folio_alloc_buffers",
                               "alloc_page_buffers",
                               "filemap_alloc_folio_noprof",
                               "pte_alloc_one",
                               "__vmalloc_area_node",
                               "alloc_skb_with_frags",
                               "___"}) {
    EXPECT_FALSE(is_page_allocator({kernel_frame(function)})) << function;
  }
}

TEST(PageAllocator, a_place_counts_only_with_all_that_is_inlined_there) {
  EXPECT_TRUE(is_page_allocator({kernel_frame("alloc_pages"), kernel_frame("__get_free_pages")}));
  EXPECT_FALSE(is_page_allocator({kernel_frame("alloc_pages"), kernel_frame("pte_alloc_one")}));
  EXPECT_FALSE(is_page_allocator({}));
  EXPECT_FALSE(is_page_allocator({{.function = "alloc_pages", .kernel = false}}));
}

}  // namespace
}  // namespace memtrace
