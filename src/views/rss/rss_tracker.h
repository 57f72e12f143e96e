// What address spaces let go of, from kmem:rss_stat: it reports how much is resident after each
// change, and identifies the address space only by a hash.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>

#include "state/process/process_table.h"
#include "tracepoints/event/event.h"

namespace memtrace {

// The owner of an address space is who was seen to change it as its own. What the owner lets go of,
// by munmap(2), madvise(2), exec or its end, is separated from what others take from it: reclaim,
// migration. At its end a task has no address space any more and changes it as if it were another's
// (kernel/exit.c, exit_mm), so the pid decides. A child of vfork(2) changes its parent's. Once the
// owner has left, what another process changes under the same id is a new address space: the kernel
// uses the memory of the old one again, whose end may have made no event.
class RssTracker {
 public:
  struct Change {
    std::uint32_t pid = 0;  // the owner's
    std::uint64_t shrunk_bytes = 0;
    std::uint64_t grown_bytes = 0;
    bool by_owner = false;
  };

  // Nothing when its size or its owner was not known before.
  std::optional<Change> apply(std::uint32_t pid,
                              const RssStat& stat,
                              const ProcessTable& processes);

 private:
  bool is_left(std::uint32_t owner, std::uint32_t mm_id, const ProcessTable& processes) const;
  void forget(std::uint32_t mm_id);

  std::unordered_map<std::uint32_t, std::uint32_t> owners_;      // by mm_id
  std::unordered_map<std::uint32_t, std::uint32_t> own_of_;      // mm_id by pid
  std::unordered_map<std::uint64_t, std::uint64_t> last_bytes_;  // by mm_id and member
};

}  // namespace memtrace
