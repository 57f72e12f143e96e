// What is known of code: the same for all who look at the processes of one machine.
#pragma once

#include "state/process/module_table.h"
#include "state/process/stack_table.h"

namespace memtrace {

// Any thread may use it.
struct CodeTables {
  ModuleTable modules;
  StackTable stacks;
};

}  // namespace memtrace
