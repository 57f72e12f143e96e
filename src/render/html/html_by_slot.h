// What a view's report says of each slot of the timeline, as the page's script reads it.
#pragma once

#include <nlohmann/json.hpp>

#include "report/report.h"
#include "report/timeline.h"

namespace memtrace {

// The parts of the report of this view; an empty array where nothing is known by slot.
nlohmann::ordered_json html_by_slot(const Timeline* timeline, const Report& report);

// Why other parts of it are not known by slot: sentences.
nlohmann::ordered_json html_slot_limits(const Timeline* timeline, const Report& report);

}  // namespace memtrace
