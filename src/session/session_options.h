// What is asked of a session.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "perf/event/event_set.h"
#include "report/arrange.h"
#include "report/suppressions.h"
#include "session/interval_clock.h"
#include "state/process/stack_interner.h"
#include "views/all/all_views.h"

namespace memtrace {

struct SessionOptions {
  std::vector<const NamedView*> views;
  ViewOptions view_options;  // for all of them
  ArrangeOptions arrange;
  Suppressions suppressions;
  StackPart part = StackPart::Whole;
  IntervalClock::Setup times;
  bool live = false;                      // the source is this machine's kernel
  bool whole_machine = true;              // of a live source; a file says it itself
  std::vector<std::string> limited = {};  // those of filtered_events()
  // PipelineSetup::probes
  const std::vector<OpenedEvent>* probes = nullptr;
};

}  // namespace memtrace
