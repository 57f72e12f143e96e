// How many pages of files each thread has made dirty. writeback:writeback_dirty_folio comes once
// for a folio. No event says how many pages a folio has that was in the page cache before the
// recording (ext4 and xfs write with folios of up to 2 MiB). writeback:balance_dirty_pages has
// the pages that its thread has dirtied since it was last looked at, but it comes only while the
// machine is near its limit of dirty pages.
//
//   dirty_folio  dirty_folio (128 pages)  dirty_folio  balance_dirty_pages: 192 pages
//        1               128                   1             + 62
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "base/hash_map.h"

namespace memtrace {

class DirtiedPages {
 public:
  void add_folio(std::uint32_t tid, std::uint64_t pages) { thread(tid).pages += pages; }

  // The pages that were not counted with their folios.
  std::uint64_t look_at(std::uint32_t tid, std::uint64_t dirtied_pages) {
    Thread& dirtying = thread(tid);
    // After a pause the kernel may look again, and the thread has done nothing in between.
    const bool is_again = dirtying.pages == 0 && dirtying.last_pages == dirtied_pages;
    const std::uint64_t more =
        is_again ? 0 : dirtied_pages - std::min(dirtied_pages, dirtying.pages);
    dirtying = {.last_pages = dirtied_pages};
    return more;
  }

 private:
  struct Thread {
    std::uint64_t pages = 0;  // since it was last looked at
    std::uint64_t last_pages = 0;
  };

  static constexpr std::size_t kMaxThreads = 65'536;  // of 24 bytes

  // Threads end, and their ids stay here until there are many.
  Thread& thread(std::uint32_t tid) {
    if (threads_.size() >= kMaxThreads) {
      threads_.clear();
    }
    return threads_[tid];
  }

  HashMap<std::uint32_t, Thread> threads_;
};

}  // namespace memtrace
