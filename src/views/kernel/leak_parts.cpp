#include "views/kernel/leak_parts.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/units.h"

namespace memtrace {
namespace {

constexpr std::size_t kMostParts = 6;
constexpr std::string_view kPages = "pages";

// Blocks by the name of what they are.
using Parts = std::map<std::string, std::uint64_t>;

std::string part_of(const LiveBlock& block, const OriginContext& context) {
  if (block.kind == BlockKind::Page) {
    return std::string(kPages);
  }
  const std::uint64_t cache = context.names.resolve_late(CacheNames::key_of(block));
  return context.names.name(cache, context.world);
}

std::string text_of(const std::pair<std::string, std::uint64_t>& part) {
  return part.first == kPages ? counted(part.second, "page", "pages")
                              : print_count(part.second) + " " + part.first;
}

std::string text_of_parts(const Parts& parts) {
  std::vector<std::pair<std::string, std::uint64_t>> most(parts.begin(), parts.end());
  std::ranges::stable_sort(
      most, std::ranges::greater(), &std::pair<std::string, std::uint64_t>::second);
  std::string text;
  for (std::size_t i = 0; i < std::min(most.size(), kMostParts); ++i) {
    text += (i == 0 ? "" : ", ") + text_of(most[i]);
  }
  return most.size() <= kMostParts ? text : text + ", ...";
}

}  // namespace

void add_parts(Table& table,
               std::span<const LiveBlock* const> blocks,
               const OriginContext& context) {
  std::map<StackId, Parts> parts;
  for (const LiveBlock* block : blocks) {
    const StackId origin = context.origins.origin_of(block->stack, context.world);
    parts[origin][part_of(*block, context)] += block->weight;
  }
  constexpr std::ptrdiff_t kColumn = 1;
  table.columns.insert(std::next(table.columns.begin(), kColumn), {"parts", Unit::Text});
  for (auto& row : table.rows) {
    const auto* origin = std::get_if<StackId>(&row.front());
    row.insert(std::next(row.begin(), kColumn),
               origin == nullptr ? Cell() : Cell(text_of_parts(parts[*origin])));
  }
}

}  // namespace memtrace
