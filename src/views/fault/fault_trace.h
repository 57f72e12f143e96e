// Page faults one by one, in the order in which they began.
#pragma once

#include "report/report.h"
#include "views/fault/fault_keys.h"
#include "views/fault/fault_pairing.h"
#include "views/kit/event_list.h"

namespace memtrace {

// has_mode: whether they are of user or kernel code is a column.
Table fault_table(EventList<Fault>& faults, const FaultContext& context, bool has_mode);

}  // namespace memtrace
