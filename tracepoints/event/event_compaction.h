// Payloads of single events of compaction and of huge pages.
#pragma once

#include <cstdint>

namespace memtrace {

// compaction:mm_compaction_suitable and mm_compaction_finished: for which zone and order the
// compaction that begins or goes on in this thread is.
struct CompactionGoal {
  std::int32_t node = -1;
  std::int32_t zone = -1;
  std::int32_t order = -1;
};

// compaction:mm_compaction_try_to_compact_pages: an allocation is about to compact zones.
struct CompactionTry {
  std::int32_t order = -1;
  std::uint64_t gfp = 0;
};

// compaction:mm_compaction_migratepages: pages that a compaction moved, and that it put back
// where they were: those that could not be moved, and those that it did not come to.
struct CompactionMoved {
  std::uint64_t migrated = 0;
  std::uint64_t put_back = 0;
};

// The step in the making of a huge page that an event of huge_memory reports.
enum class CollapseStep : std::uint8_t { Scan, Isolate, SwapIn, Collapse, ScanFile, CollapseFile };

struct Collapse {
  CollapseStep step = CollapseStep::Scan;
  std::int32_t status = 0;  // enum scan_result; of SwapIn 1 when it succeeded
};

}  // namespace memtrace
