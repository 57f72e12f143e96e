// What is asked of a session.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "perf/event/event_set.h"
#include "report/arrange.h"
#include "report/suppressions.h"
#include "session/interval_clock.h"
#include "state/process/stack_interner.h"
#include "timeline/timeline_collector.h"
#include "views/all/all_views.h"

namespace memtrace {

class SlotViews;

struct SessionOptions {
  std::vector<const NamedView*> views;
  ViewOptions view_options;  // for all of them

  // Keys and own options of one view.
  struct Choice {
    std::vector<std::string> by = {};
    std::map<std::string, std::string> own = {};
  };

  std::vector<Choice> choices = {};  // of each view, in place of those for all; empty: none
  bool as_made = false;              // reports keep all rows, neither sorted nor named
  ArrangeOptions arrange;
  Suppressions suppressions;
  StackPart part = StackPart::Whole;
  IntervalClock::Setup times;
  std::uint64_t max_memory_bytes = 0;     // of the process, MemoryBound; 0: no bound
  ClockKind clock = ClockKind::Wall;      // that reports show
  bool live = false;                      // the source is this machine's kernel
  bool whole_machine = true;              // of a live source; a file says it itself
  std::vector<std::string> limited = {};  // those of filtered_events()
  // PipelineSetup::probes
  const std::vector<OpenedEvent>* probes = nullptr;
  TimelineCollector* timeline = nullptr;  // gets what the views get; outlives the session
  SlotViews* slot_views = nullptr;        // the same

  // Those of one view.
  ViewOptions options_of(std::size_t view) const;

  // Reports lack rows for another reason than their number.
  bool leaves_rows_out() const {
    return !arrange.exclude.empty() || arrange.only || arrange.min_count != 0 ||
           !suppressions.empty();
  }
};

}  // namespace memtrace
