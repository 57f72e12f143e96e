// Finds the pages that were allocated to read swap, by the kernel functions on their stacks: there
// is no tracepoint of swap-in in any kernel.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "base/ids.h"
#include "report/namer.h"
#include "state/world/world.h"

namespace memtrace {

class SwapStacks {
 public:
  // False as long as no stack had a named function of the kernel: then nothing is known.
  bool has_names() const { return has_names_; }

  // Looks at the functions of the kernel alone: to name whole stacks takes time and memory.
  bool is_swap_in(StackId stack, const World& world, Namer& namer);

 private:
  enum class Function : std::uint8_t { SwapIn, ZswapWriteback, Other };

  Function function_at(LocationId location, Namer& namer);

  std::unordered_map<LocationId, Function> known_;
  bool has_names_ = false;
};

}  // namespace memtrace
