// The tables of the view `arenas`, and what each ArenaOp is called.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <utility>

#include "report/report.h"
#include "state/heap/arena_tracker.h"
#include "state/world/world.h"
#include "views/kit/event_list.h"
#include "views/kit/keys.h"

namespace memtrace {

// By pid: of one life of a process.
struct ProcessArenas {
  std::uint64_t serial = 0;
  ArenaTracker tracker;
  KeyWords keys = {};  // of the process, where rows are made by such keys
};

using AllArenas = std::map<std::uint32_t, ProcessArenas>;

// An ArenaEvent and whose it was.
struct ArenaStep {
  std::uint64_t time_ns = 0;
  std::uint32_t pid = 0;
  ArenaTask task;
  ArenaEvent event;
};

std::string_view name_of(ArenaOp op);

// All that processes have, by keys of theirs.
Table arena_process_table(const AllArenas& all, const KeySet& keys, const CellContext& context);

Table arena_table(const AllArenas& all, const World& world);
Table arena_user_table(const AllArenas& all, const World& world);
Table arena_heap_table(const AllArenas& all, const World& world);

// How the thresholds moved.
Table threshold_table(EventList<ArenaStep>& steps, const CellContext& context);

// What has happened since the last call (View::take_lines).
Table arena_lines(EventList<ArenaStep>& steps, const CellContext& context);

}  // namespace memtrace
