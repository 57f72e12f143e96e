// Payloads of the kernel's slab and page allocators.
#pragma once

#include <cstdint>
#include <string_view>

namespace memtrace {

// The name that memory of each CPU has, as if it were a cache.
inline constexpr std::string_view kPercpuCache = "(per cpu)";

// kmem:kmalloc, kmem:kmem_cache_alloc and their _node forms; percpu:percpu_alloc_percpu.
struct SlabAlloc {
  std::uint64_t call_site = 0;  // kernel address
  std::uint64_t ptr = 0;
  std::uint64_t bytes_req = 0;
  std::uint64_t bytes_alloc = 0;
  std::uint64_t gfp = 0;
  std::int32_t node = -1;  // -1: any, or the event has no node
  bool kmalloc = false;    // else from a named cache
  std::string_view cache;  // "" when the event has no name field
};

// kmem:kfree, kmem:kmem_cache_free, percpu:percpu_free_percpu. kfree(NULL) is traced too: ptr 0.
struct SlabFree {
  std::uint64_t call_site = 0;
  std::uint64_t ptr = 0;
  bool kmalloc = false;
  std::string_view cache;
};

// kmem:mm_page_alloc. `page` is a pfn, or a struct page address before 4.4: an identity only.
struct PageAlloc {
  std::uint64_t page = 0;
  std::uint32_t order = 0;
  std::uint64_t gfp = 0;
  std::int32_t migratetype = 0;
  bool failed = false;      // no page was to be had
  bool page_is_pfn = true;  // false: struct page addresses, neighbours cannot be computed
  // The flags are those by which the kernel asks for transparent huge pages, and from 6.8 on for
  // smaller large folios of a process's memory (mm/huge_memory.c, vma_thp_gfp_mask):
  // __GFP_NOMEMALLOC is among them. The page cache asks for its large folios without it.
  bool like_huge_page = false;
};

// The smallest order of such folios (include/linux/huge_mm.h, THP_ORDERS_ALL_ANON).
inline constexpr std::uint32_t kSmallestFolioOrder = 2;

// kmem:mm_page_free; kmem:mm_page_free_direct and mm_pagevec_free on 2.6.32.
struct PageFree {
  std::uint64_t page = 0;
  std::uint32_t order = 0;
  bool page_is_pfn = true;
};

}  // namespace memtrace
