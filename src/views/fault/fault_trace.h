// Page faults one by one, in the order in which they ended.
#pragma once

#include "report/report.h"
#include "views/fault/fault_keys.h"
#include "views/fault/fault_pairing.h"
#include "views/kit/event_list.h"

namespace memtrace {

struct FaultColumns {
  bool mode = false;  // whether they are of user or kernel code
  bool stack = false;
};

// Those since the last call (View::take_lines).
Table fault_lines(EventList<Fault>& faults, const FaultContext& context, FaultColumns shown);

}  // namespace memtrace
