// Recognizes pages that belong to programs and to the page cache, and not to the kernel itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>

#include "state/heap/live_block.h"
#include "tracepoints/event/event.h"
#include "views/kit/keys.h"

namespace memtrace {

// By the flags that they were asked for with: user memory and the page cache may be moved
// (__GFP_MOVABLE), and what is mapped to user space without that is GFP_HIGHUSER
// (include/linux/gfp_types.h). Not __GFP_HIGHMEM alone: vmalloc asks for that, too. Pipe buffers
// are GFP_HIGHUSER and count as a program's. Without the names of the flags nothing is.
bool is_user_page(std::uint64_t gfp, std::span<const FlagName> gfp_flags);

// The same for many pages, of which few have other flags than those before. The names may grow.
class UserPages {
 public:
  bool has(std::uint64_t gfp, std::span<const FlagName> gfp_flags);

  bool has(const LiveBlock& block, std::span<const FlagName> gfp_flags) {
    return block.kind == BlockKind::Page && has(block.gfp, gfp_flags);
  }

 private:
  std::size_t names_ = 0;                // with which `known_` was found
  std::map<std::uint64_t, bool> known_;  // by flags
};

// "kind" of live blocks: kmalloc, cache, page, and "user or cache page".
extern const KeySpec block_kind_key;

}  // namespace memtrace
