#include "views/kit/user_pages.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace memtrace {
namespace {

// "GFP_MOVABLE" is the bit's name before 4.9 (include/trace/events/gfpflags.h).
constexpr auto kUserFlags =
    std::to_array<std::string_view>({"__GFP_MOVABLE", "GFP_MOVABLE", "GFP_HIGHUSER"});

// The kind in the lowest byte, the flags of a page above it: what kind of page they say is known
// only when the names of the flags are.
constexpr int kGfpShift = 8;
constexpr std::uint64_t kUserPage = 4;  // of no kernel block: BlockKind::Heap

std::uint64_t kind_of(const LiveBlock& block) {
  const auto kind = static_cast<std::uint64_t>(block.kind);
  return block.kind == BlockKind::Page ? kind | (block.gfp << kGfpShift) : kind;
}

std::uint64_t settle_kind(std::uint64_t word, const CellContext& context) {
  const bool is_user = is_user_page(word >> kGfpShift, context.gfp_flags);
  return is_user ? kUserPage : word & ((1U << kGfpShift) - 1);
}

Cell block_kind_cell(std::uint64_t word, const CellContext& /*context*/) {
  // By BlockKind.
  constexpr auto kNames = std::to_array<std::string_view>(
      {"kmalloc", "cache", "per cpu", "page", "user or cache page"});
  static_assert(static_cast<std::uint64_t>(BlockKind::Heap) == kUserPage);
  return std::string(kNames[word]);
}

}  // namespace

bool is_user_page(std::uint64_t gfp, std::span<const FlagName> gfp_flags) {
  return std::ranges::any_of(gfp_flags, [gfp](const FlagName& flag) {
    return flag.mask != 0 && (gfp & flag.mask) == flag.mask &&
           std::ranges::find(kUserFlags, flag.name) != kUserFlags.end();
  });
}

bool UserPages::has(std::uint64_t gfp, std::span<const FlagName> gfp_flags) {
  if (names_ != gfp_flags.size()) {
    names_ = gfp_flags.size();
    known_.clear();
  }
  const auto [known, is_new] = known_.try_emplace(gfp);
  if (is_new) {
    known->second = is_user_page(gfp, gfp_flags);
  }
  return known->second;
}

const KeySpec block_kind_key = {"kind", Unit::Text, nullptr, kind_of, block_kind_cell, settle_kind};

}  // namespace memtrace
