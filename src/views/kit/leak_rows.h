// Blocks that are not freed: what leaks and kleaks show of them, by key and one by one.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "state/heap/live_block.h"
#include "views/kit/event_list.h"
#include "views/kit/group_by.h"
#include "views/kit/keyed_histograms.h"
#include "views/view.h"

namespace memtrace {

struct LeakCost {
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;
  std::uint64_t sum_age_ns = 0;
  Largest oldest_ns;
};

inline constexpr ViewOption kOlderOption{
    "older", "SECONDS", "only blocks that are at least this old at the end"};

// --older in ns; 0 without it. Error: Usage.
Result<std::uint64_t> parse_older_ns(const ViewOptions& options);

std::uint64_t age_ns(const LiveBlock& block, View::Span span);

class LeakRows {
 public:
  LeakRows(KeySet keys, KeySet address_keys, const ViewOptions& options)
      : rows_(std::move(keys)),
        sizes_(options, rows_.keys().size(), "sizes", Unit::Bytes),
        address_keys_(std::move(address_keys)) {}

  // The blocks of a report; they outlive it.
  void set(std::vector<const LiveBlock*> blocks, View::Span span);

  void clear() {
    rows_.clear();
    blocks_.clear();
  }

  const std::vector<const LiveBlock*>& blocks() const { return blocks_; }

  std::optional<std::size_t> key_index(std::string_view key) const {
    return rows_.keys().index_of(key);
  }

  // Totals, and the table by keys.
  Table& add_to(Report& report, const CellContext& context);

  Table table(const CellContext& context);

  // Each block with its address, oldest first, at most `most` of them.
  Table address_table(const CellContext& context, std::size_t most = kMaxListed) const;

 private:
  GroupBy<LeakCost> rows_;
  AskedHistograms sizes_;
  KeySet address_keys_;
  std::vector<const LiveBlock*> blocks_;
};

}  // namespace memtrace
