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

bool has_function(const Frames& frames, std::string_view function) {
  return std::ranges::any_of(frames, [function](const Frame& frame) {
    return frame.kernel && base_name(frame.function) == function;
  });
}

}  // namespace

bool is_swap_in_stack(const Frames& frames) {
  const auto on_stack = [&frames](std::string_view name) { return has_function(frames, name); };
  return std::ranges::any_of(kSwapIn, on_stack) && !on_stack(kZswapWriteback);
}

bool SwapStacks::is_swap_in(StackId stack, Namer& namer) {
  const auto [known, is_new] = known_.try_emplace(stack, false);
  if (is_new && stack.valid()) {
    const Frames& frames = namer.stack(stack);
    known->second = is_swap_in_stack(frames);
    has_names_ = has_names_ || std::ranges::any_of(frames, [](const Frame& frame) {
                   return frame.kernel && frame.function.find("+0x") == std::string::npos;
                 });
  }
  return known->second;
}

}  // namespace memtrace
