// Shared memory objects as calls show them: System V segments by their ids, memfd and POSIX objects
// by their files.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "state/world/world.h"
#include "tracepoints/event/event.h"
#include "views/kit/keys.h"

namespace memtrace {

class ShmSegments {
 public:
  struct Segment {
    std::uint32_t key = 0;
    std::uint64_t bytes = 0;
    bool is_created = false;  // in the recording, as far as the flags show
    bool is_removed = false;
    std::uint32_t pid = 0;  // that created it
    StringId comm;
    std::uint64_t attaches = 0;
    std::uint64_t detaches = 0;
  };

  // A call that succeeded. True for one that created a segment.
  bool apply(const Event& event, const SystemCallDone& done);

  // `at_end`: what /proc/sysvipc/shm said; null when nobody asked.
  Table table(const CellContext& context, const Observation* at_end) const;

  // Created and not removed. What /proc does not list any more somebody has removed.
  struct Left {
    std::uint64_t count = 0;
    std::uint64_t bytes = 0;
  };

  Left left(const Observation* at_end) const;

 private:
  bool get(const Event& event, const SystemCallDone& done);
  void detach(std::uint32_t pid, std::uint64_t avma);

  std::map<std::int64_t, Segment> segments_;                                  // by id
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::int64_t> attached_;  // by pid, address
};

// Files that live in memory alone: memfd, and what shm_open(3) makes in /dev/shm.
class ShmFiles {
 public:
  struct File {
    bool is_memfd = false;
    std::uint32_t pid = 0;  // the first to map it
    StringId comm;
    std::optional<std::uint64_t> bytes;  // as ftruncate(2) set it
    std::uint64_t mappings = 0;
    std::uint64_t mapped_bytes = 0;
  };

  // By path and inode.
  using Key = std::pair<StringId, std::uint64_t>;

  File& file(const MemoryArea& area) { return files_[{area.path, area.inode}]; }

  bool empty() const { return files_.empty(); }

  Table table(const CellContext& context) const;

 private:
  std::map<Key, File> files_;
};

}  // namespace memtrace
