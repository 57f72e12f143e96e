#include "session/page_allocator.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace memtrace {
namespace {

// mm/page_alloc.c, mm/mempolicy.c and include/linux/gfp.h of 2.6.32 to 6.18, without underscores
// before and "_noprof" (6.10) behind.
constexpr auto kFunctions = std::to_array<std::string_view>({"alloc_frozen_pages",
                                                             "alloc_page",
                                                             "alloc_page_interleave",
                                                             "alloc_pages",
                                                             "folio_alloc",
                                                             "folio_alloc_mpol",
                                                             "folio_alloc_node",
                                                             "get_free_pages",
                                                             "get_page_from_freelist",
                                                             "get_zeroed_page",
                                                             "vma_alloc_folio",
                                                             "vma_alloc_zeroed_movable_folio"});
// alloc_pages_vma, _current, _mpol, _nodemask, _bulk, _exact, _slowpath ... and what 2.6.32 calls
// for the event itself, which is in its stack when perf_fetch_caller_regs() was not inlined.
constexpr auto kFamilies = std::to_array<std::string_view>(
    {"alloc_pages_", "alloc_frozen_pages_", "ftrace_profile_mm_page_"});

std::string_view plain_name(std::string_view name) {
  name.remove_prefix(std::min(name.find_first_not_of('_'), name.size()));
  name = name.substr(0, name.find('.'));  // ".constprop.0", ".isra.0"
  constexpr std::string_view kNoProfile = "_noprof";
  return name.ends_with(kNoProfile) ? name.substr(0, name.size() - kNoProfile.size()) : name;
}

bool is_allocator(const Frame& frame) {
  const std::string_view name = plain_name(frame.function);
  const auto begins = [name](std::string_view family) { return name.starts_with(family); };
  return frame.kernel && (std::ranges::find(kFunctions, name) != kFunctions.end() ||
                          std::ranges::any_of(kFamilies, begins));
}

}  // namespace

bool is_page_allocator(const Frames& frames) {
  return !frames.empty() && std::ranges::all_of(frames, is_allocator);
}

}  // namespace memtrace
