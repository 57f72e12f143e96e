// How much of the pages that blocks lie in is kept by each block: a page with one live block of 64
// bytes cannot be given back to the kernel, and all of it is that block's doing.
//
//   |aa      |        |        b|      a keeps its page, b the third one; the second is free
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/hash.h"
#include "base/hash_map.h"
#include "state/heap/live_block.h"

namespace memtrace {

class PinnedPages {
 public:
  // All live blocks of the heap whose addresses are known.
  PinnedPages(std::span<const LiveBlock* const> blocks, std::uint64_t page_size_bytes);

  // The block's part of its pages, by its part of what is live in each.
  std::uint64_t bytes_kept_by(const LiveBlock& block) const;

 private:
  struct Page {
    std::uint32_t pid = 0;
    std::uint64_t number = 0;

    friend bool operator==(const Page&, const Page&) = default;
  };

  struct PageHash {
    std::size_t operator()(const Page& page) const { return mix(page.number ^ mix(page.pid)); }
  };

  // Calls visit(page, bytes of the block in it) for the first and the last page: those between are
  // full.
  template <typename Visitor>
  void for_each_part(const LiveBlock& block, Visitor visit) const;

  std::uint64_t page_size_bytes_;
  HashMap<Page, std::uint64_t, PageHash> live_;  // bytes in each page
};

}  // namespace memtrace
