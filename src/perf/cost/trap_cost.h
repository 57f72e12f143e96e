// What the trap of a user probe costs the program that runs into it, on this machine.
#pragma once

#include "base/result.h"

namespace memtrace {

struct TrapCost {
  double emulated_ns = 0;  // at an instruction that the kernel emulates, such as push or nop
  double stepped_ns = 0;   // at any other one: the CPU executes it alone, and traps again
};

// Calls of two functions of memtrace's own, with and without a probe that counts them (the kernel's
// uprobe PMU, Linux 4.17); the fastest of several rounds. Which instructions are emulated:
// arch/x86/kernel/uprobes.c, branch_setup_xol_ops() and push_setup_xol_ops(). Error: there is no
// such PMU, it is not allowed, or this architecture has no such functions.
Result<TrapCost> measure_trap_cost();

}  // namespace memtrace
