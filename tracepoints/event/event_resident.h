// Payloads of what is resident: the pages of a file in the page cache, those of a process.
#pragma once

#include <cstdint>

namespace memtrace {

// filemap:mm_filemap_add_to_page_cache and mm_filemap_delete_from_page_cache.
struct PageCacheChange {
  std::uint32_t device_major = 0;
  std::uint32_t device_minor = 0;
  std::uint64_t inode = 0;
  std::uint64_t index = 0;  // of the first page in its file
  std::uint32_t order = 0;
  bool added = false;  // else taken out
};

// include/linux/mm_types_task.h, MM_FILEPAGES and so on.
enum class RssMember : std::uint8_t { File, Anonymous, Swap, SharedMemory, Other };

// kmem:rss_stat: how much of an address space is resident now.
struct RssStat {
  std::uint32_t mm_id = 0;  // a hash of the address space
  bool is_of_task = false;  // it is the one of the thread that the event is of
  RssMember member = RssMember::Other;
  std::uint64_t bytes = 0;
};

// kmem:mm_anon_userfree and mm_filemap_userunmap, mm_anon_cow and mm_filemap_cow, of RHEL 6 alone:
// one page of an address space that a task's own call or access has changed (mm/memory.c there,
// zap_pte_range and do_wp_page).
enum class ResidentChange : std::uint8_t { GivenBack, Copied };

struct ResidentPage {
  ResidentChange change = ResidentChange::GivenBack;
  RssMember member = RssMember::Anonymous;  // what the page was before
};

}  // namespace memtrace
