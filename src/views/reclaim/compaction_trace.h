// Compactions and steps in the making of huge pages one by one: what compaction --trace shows.
#pragma once

#include <span>

#include "report/report.h"
#include "views/kit/event_list.h"

namespace memtrace {

// Keys of events in the making of huge pages: step, result.
std::span<const KeySpec> huge_page_keys();

class CompactionTrace {
 public:
  explicit CompactionTrace(const ViewOptions& options)
      : is_wanted_(options.wants_lines()), has_stacks_(options.asks_for("stack")) {}

  // Works and collapses, of which the event's payload says which it is.
  void add(const Event& event) {
    if (is_wanted_) {
      events_.add(without_borrowed(event));
    }
  }

  // Those since the last call. The names of what compactions and what steps end with are those of
  // two contexts, which else are the same.
  Table take(const CellContext& of_compactions, const CellContext& of_steps);

 private:
  bool is_wanted_;
  bool has_stacks_;
  EventList<Event> events_;
};

}  // namespace memtrace
