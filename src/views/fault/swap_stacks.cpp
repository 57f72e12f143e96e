#include "views/fault/swap_stacks.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace memtrace {
namespace {

// mm/swap_state.c, mm/memory.c, mm/shmem.c, from 3.10 to 6.18. zram and its like are read at once
// in do_swap_page, without readahead (4.15 on).
constexpr auto kSwapIn = std::to_array<std::string_view>({"swapin_readahead",
                                                          "swapin_folio",
                                                          "swap_cluster_readahead",
                                                          "swap_vma_readahead",
                                                          "read_swap_cache_async",
                                                          "__read_swap_cache_async",
                                                          "swap_cache_alloc_folio",
                                                          "shmem_swapin",
                                                          "shmem_swapin_folio",
                                                          "shmem_swap_alloc_folio",
                                                          "alloc_swap_folio",
                                                          "do_swap_page"});

// zswap reads its own pages to write them to the disk, which is no swap-in.
constexpr std::string_view kZswapWriteback = "zswap_writeback_entry";

// "swapin_readahead.constprop.0", "do_swap_page+0x1f" are the same functions.
std::string_view base_name(std::string_view name) {
  return name.substr(0, name.find_first_of(".+"));
}

}  // namespace

SwapStacks::Function SwapStacks::function_at(LocationId location, Namer& namer) {
  const auto [known, is_new] = known_.try_emplace(location, Function::Other);
  if (!is_new) {
    return known->second;
  }
  for (const Frame& frame : namer.location(location)) {
    const std::string_view name = base_name(frame.function);
    has_names_ = has_names_ || frame.function.find("+0x") == std::string::npos;
    if (std::ranges::find(kSwapIn, name) != kSwapIn.end()) {
      known->second = Function::SwapIn;
    } else if (name == kZswapWriteback) {
      known->second = Function::ZswapWriteback;
    }
  }
  return known->second;
}

bool SwapStacks::is_swap_in(StackId stack, const World& world, Namer& namer) {
  bool is_swap_in = false;
  bool is_writeback = false;
  world.stacks().walk(stack, [&](LocationId location) {
    if (world.stacks().location(location).module != world.modules().kernel()) {
      return false;  // the program's part begins
    }
    const Function function = function_at(location, namer);
    is_swap_in = is_swap_in || function == Function::SwapIn;
    is_writeback = is_writeback || function == Function::ZswapWriteback;
    return true;
  });
  return is_swap_in && !is_writeback;
}

}  // namespace memtrace
