// What address spaces let go of, from kmem:rss_stat: it reports how much is resident after each
// change, and identifies the address space only by a hash.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>

#include "tracepoints/event/event.h"

namespace memtrace {

// The owner of an address space is who was seen to change it as its own. What the owner lets go of,
// by munmap(2), madvise(2), exec or its end, is separated from what others take from it: reclaim,
// migration. At its end a task has no address space any more and changes it as if it were another's
// (kernel/exit.c, exit_mm), so the pid decides.
class RssTracker {
 public:
  struct Change {
    std::uint32_t pid = 0;  // the owner's
    std::uint64_t shrunk_bytes = 0;
    std::uint64_t grown_bytes = 0;
    bool by_owner = false;
  };

  // Nothing when its size or its owner was not known before.
  std::optional<Change> apply(std::uint32_t pid, const RssStat& stat);

 private:
  std::unordered_map<std::uint32_t, std::uint32_t> owners_;      // by mm_id
  std::unordered_map<std::uint64_t, std::uint64_t> last_bytes_;  // by mm_id and member
};

}  // namespace memtrace
