// The events of a live recording, and what it must do so that they can be made sense of.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "perf/event/event_attr.h"
#include "perf/live/added_events.h"

namespace memtrace {

struct WantedEvents {
  std::vector<EventRequest> requests;
  bool data_mappings = false;      // record all mappings, not only executable ones
  bool is_prompt = false;          // they arrive within milliseconds, also in a quiet time
  std::vector<std::string> notes;  // what is not as one might think: for stderr and every report
  ChooseEvents choose_added;  // asked by a thread of its own for files mapped later; may be empty
  // Called once, by a thread of its own, when all events of user probes are closed; may be empty.
  std::function<void()> remove_probes;
};

}  // namespace memtrace
