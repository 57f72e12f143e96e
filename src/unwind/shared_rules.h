// What the unwinder of the merging thread has learnt, for the threads that empty the rings: they
// look it up where it is, and no look-up takes a lock.
#pragma once

#include "unwind/rule_table.h"
#include "unwind/space_table.h"

namespace memtrace {

struct SharedRules {
  RuleTable rules;
  SpaceTable spaces;  // one that a process has left by now may still be here
};

}  // namespace memtrace
