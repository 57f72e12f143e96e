#include "views/kit/leak_rows.h"

#include <algorithm>
#include <iterator>
#include <span>
#include <utility>

#include "base/units.h"

namespace memtrace {
namespace {

constexpr auto kFigures = std::to_array<Figure<LeakCost>>({
    figure<&LeakCost::count>("count"),
    figure<&LeakCost::bytes>("bytes", Unit::Bytes),
    mean_figure<&LeakCost::sum_age_ns, &LeakCost::count>("avg_age_ns", Unit::Nanoseconds),
    figure<&LeakCost::oldest_ns, &Largest::value>("oldest_ns", Unit::Nanoseconds),
});

bool is_older(const LiveBlock* left, const LiveBlock* right) {
  return std::pair(left->time_ns, left->key) < std::pair(right->time_ns, right->key);
}

}  // namespace

Result<std::uint64_t> parse_older_ns(const ViewOptions& options) {
  const auto older = options.own.find(std::string(kOlderOption.name));
  if (older == options.own.end()) {
    return std::uint64_t{0};
  }
  const auto age_ns = parse_duration_ns(older->second);
  if (!age_ns) {
    return Error{.message = "--older " + older->second + ": not a duration",
                 .hint = "give seconds (5, 0.5) or a unit (200ms, 3s, 2m, 1h)",
                 .kind = ErrorKind::Usage};
  }
  return *age_ns;
}

std::uint64_t age_ns(const LiveBlock& block, View::Span span) {
  return span.end_ns > block.time_ns ? span.end_ns - block.time_ns : 0;
}

void LeakRows::set(std::vector<const LiveBlock*> blocks, View::Span span) {
  blocks_ = std::move(blocks);
  rows_.clear();
  for (const LiveBlock* block : blocks_) {
    const std::uint64_t age = age_ns(*block, span);
    rows_.row(*block) += {block->weight, block->weight * block->bytes, block->weight * age, {age}};
    sizes_.add(rows_.keys(), *block, block->bytes, block->weight);
  }
}

Table& LeakRows::add_to(Report& report, const CellContext& context) {
  report.totals = totals_of(std::span(kFigures).first(2), rows_.total(), context);
  return report.tables.emplace_back(table(context));
}

Table LeakRows::table(const CellContext& context) {
  Table table = rows_.table(kFigures, context);
  sort_by(table, "bytes");
  sizes_.move_into(table, rows_.keys(), context);
  return table;
}

Table LeakRows::address_table(const CellContext& context, std::size_t most) const {
  std::vector<const LiveBlock*> blocks = blocks_;
  const std::size_t count = std::min(blocks.size(), most);
  std::partial_sort(blocks.begin(),
                    std::next(blocks.begin(), static_cast<std::ptrdiff_t>(count)),
                    blocks.end(),
                    is_older);
  Table table{.title = "outstanding blocks, oldest first",
              .columns = {{"address", Unit::Address}},
              .note = unlisted_note(blocks.size() - count),
              .fixed = true};
  std::ranges::move(address_keys_.columns(), std::back_inserter(table.columns));
  table.key_count = table.columns.size();
  table.columns.push_back({"bytes", Unit::Bytes});
  table.columns.push_back({"age_ns", Unit::Nanoseconds});
  for (const LiveBlock* block : std::span(blocks).first(count)) {
    const KeyWords keys = address_keys_.resolve_late(address_keys_.of(*block), context);
    std::vector<Cell>& row = table.rows.emplace_back();
    row.emplace_back(block->key);
    std::ranges::move(address_keys_.cells(keys, context), std::back_inserter(row));
    row.emplace_back(block->bytes);
    row.emplace_back(age_ns(*block, context.span));
  }
  return table;
}

}  // namespace memtrace
