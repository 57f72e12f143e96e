// The screen of `memtrace top` as text. Knows no terminal, no clock and no files.
//
//   memtrace top  14:03:59  the whole machine  every 1.00 s       Lost: none.
//    1 processes   2 stacks   3 slab   4 faults   5 reclaim
//   slab caches, rates: 42 rows
//   cache          bytes/s*  allocs/s  frees/s       live
//   ...
//   Tab pane  s sort  / filter  Space pause  ? help  q quit
#pragma once

#include <cstddef>

#include "cli/terminal/frame.h"
#include "cli/top/pane_table.h"
#include "cli/top/state.h"
#include "report/namer.h"

namespace memtrace {

// Exactly as many lines as the screen has. Notes in `state` what is where; from 40 lines on, the
// next pane is below the chosen one. `namer` knows the stacks of the snapshot.
ScreenFrame compose(TopState& state, const TopSnapshot& snapshot, ScreenSize size, Namer& namer);

// The heading and the pane alone: a line, and at most `most.lines` below it.
ScreenFrame compose_batch(TopState& state,
                          const TopSnapshot& snapshot,
                          ScreenSize most,
                          Namer& namer);

}  // namespace memtrace
