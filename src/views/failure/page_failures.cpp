#include "views/failure/page_failures.h"

#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/text.h"
#include "views/kit/cells.h"

namespace memtrace {
namespace {

constexpr std::uint32_t kMostOrders = 11;  // MAX_ORDER of most kernels

std::string flags_text(std::uint64_t gfp, std::span<const FlagName> names) {
  return names.empty() ? fmt::format("GFP flags 0x{:x}", gfp) : print_flags(gfp, names);
}

// The smallest block that holds this many bytes.
std::uint32_t order_for(std::uint64_t bytes, std::uint64_t page_bytes) {
  std::uint32_t order = 0;
  while (order + 1 < kMostOrders && (page_bytes << order) < bytes) {
    ++order;
  }
  return order;
}

void add_blocks(std::vector<Cell>& row, const std::string* text) {
  std::vector<std::string_view> blocks;
  if (text != nullptr) {
    blocks = split(*text, ' ');
  }
  for (std::size_t order = 0; order < kMostOrders; ++order) {
    const auto count = order < blocks.size() ? parse_number(blocks[order]) : std::nullopt;
    row.push_back(when(count));
  }
}

// One row for all blocks of a zone, and one for each migrate type.
void add_zone_rows(const Facts& zone, Table& table) {
  constexpr std::string_view kFree = "free_";
  const auto add = [&](const std::string& type, const std::string* blocks) {
    auto& row = table.rows.emplace_back();
    row = {fact(zone, "node"), fact(zone, "zone"), type};
    add_blocks(row, blocks);
  };
  add("all", zone.text("blocks"));
  for (const auto& [key, blocks] : zone.texts) {
    if (key.starts_with(kFree)) {
      add(key.substr(kFree.size()), &blocks);
    }
  }
}

}  // namespace

std::optional<BlockRequest> failed_request(const Event& event,
                                           std::uint64_t page_bytes,
                                           std::span<const FlagName> gfp_flags) {
  if (const auto* pages = std::get_if<PageAlloc>(&event.payload); pages != nullptr) {
    return pages->failed ? std::optional(BlockRequest{.order = pages->order,
                                                      .bytes = page_bytes << pages->order,
                                                      .gfp = flags_text(pages->gfp, gfp_flags)})
                         : std::nullopt;
  }
  const auto* object = std::get_if<SlabAlloc>(&event.payload);
  // kmalloc(0) is no failure: it gives ZERO_SIZE_PTR, which is not 0.
  if (object == nullptr || object->ptr != 0 || !object->kmalloc) {
    return std::nullopt;
  }
  return BlockRequest{.order = order_for(object->bytes_req, page_bytes),
                      .bytes = object->bytes_req,
                      .gfp = flags_text(object->gfp, gfp_flags),
                      .object = "kmalloc"};
}

Table free_block_table(const Observation& seen) {
  Table table{.title = "free blocks by order when the last allocation had failed",
              .columns = {{"node", Unit::Number}, {"zone", Unit::Text}, {"type", Unit::Text}},
              .key_count = 3,
              .fixed = true};
  for (std::uint32_t order = 0; order < kMostOrders; ++order) {
    table.columns.push_back({"order_" + std::to_string(order), Unit::Count});
  }
  for (const Facts& zone : seen.rows) {
    add_zone_rows(zone, table);
  }
  return table;
}

}  // namespace memtrace
