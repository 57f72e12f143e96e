// Calls of allocators one by one, in the order in which they ended.
#pragma once

#include <cstdint>

#include "base/ids.h"
#include "report/report.h"
#include "views/kit/event_list.h"

namespace memtrace {

struct MallocLine {
  std::uint64_t time_ns = 0;
  StringId comm;
  std::uint32_t pid = 0;
  std::uint32_t tid = 0;
  StringId function;
  std::uint64_t bytes = 0;    // asked for; of a free those of the block, 0 where it is not known
  std::uint64_t address = 0;  // of the block; 0: failed, or not known
  bool is_free = false;
  bool failed = false;
  LocationId caller;
  StackId stack;
};

// What the event says of whom and where.
MallocLine malloc_line(const Event& event);

// Those since the last call (View::take_lines).
Table malloc_lines(EventList<MallocLine>& calls, const CellContext& context, bool has_stacks);

}  // namespace memtrace
