// Compactions and steps in the making of huge pages one by one: what compaction --trace shows.
#pragma once

#include <vector>

#include "report/report.h"
#include "views/kit/event_list.h"

namespace memtrace {

// Keys of events in the making of huge pages: step, result.
std::span<const KeySpec> huge_page_keys();

class CompactionTrace {
 public:
  void add_compaction(const Event& event) { compactions_.add(without_borrowed(event)); }

  void add_step(const Event& event) { steps_.add(without_borrowed(event)); }

  // A WorkContext whose statuses are those of compactions.
  void add_compactions(const CellContext& context, std::vector<Table>& tables);

  // A WorkContext whose statuses are those of steps.
  void add_steps(const CellContext& context, std::vector<Table>& tables);

 private:
  EventList<Event> compactions_;
  EventList<Event> steps_;
};

}  // namespace memtrace
