// Finds the pages that were allocated to read swap, by the kernel functions on their stacks: there
// is no tracepoint of swap-in in any kernel.
#pragma once

#include <unordered_map>

#include "base/ids.h"
#include "report/namer.h"

namespace memtrace {

class SwapStacks {
 public:
  // False as long as no stack had a named function of the kernel: then nothing is known.
  bool has_names() const { return has_names_; }

  bool is_swap_in(StackId stack, Namer& namer);

 private:
  std::unordered_map<StackId, bool> known_;
  bool has_names_ = false;
};

// By the names alone, innermost first.
bool is_swap_in_stack(const Frames& frames);

}  // namespace memtrace
