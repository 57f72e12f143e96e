// Blocks that are not freed: what leaks and kleaks show of them, by key and one by one, and what
// became of other blocks of the same key.
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
#include "views/leak/leak_timeline.h"
#include "views/leak/site_history.h"
#include "views/leak/verdict.h"
#include "views/view.h"

namespace memtrace {

// What was left out of a report.
struct LeftOut {
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;
};

struct LeakCost {
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;
  std::uint64_t pinned_bytes = 0;    // of their pages; 0: not known
  std::uint64_t at_least_bytes = 0;  // of blocks whose frees cannot be among the lost events
  std::uint64_t sum_age_ns = 0;
  Largest oldest_ns;
  SiteHistory history;

  // Nothing is left of its blocks: it is no row.
  bool empty() const { return count == 0; }
};

inline constexpr ViewOption kOlderOption{
    "older", "SECONDS", "only blocks that are at least this old at the end"};

// --older in ns; 0 without it. Error: Usage.
Result<std::uint64_t> parse_older_ns(const ViewOptions& options);

std::uint64_t age_ns(const LiveBlock& block, View::Span span);

// Whether rows have a verdict: then they need allocations and frees as they happen.
enum class Judging : std::uint8_t { No, Yes };

class LeakRows {
 public:
  LeakRows(KeySet keys, KeySet address_keys, Judging judging, const ViewOptions& options)
      : rows_(std::move(keys)),
        sizes_(options, rows_.keys().size(), "sizes", Unit::Bytes),
        address_keys_(std::move(address_keys)),
        judging_(judging) {}

  // Rows know its timeline.
  LeakRows(const LeakRows&) = delete;
  LeakRows& operator=(const LeakRows&) = delete;
  LeakRows(LeakRows&&) = delete;
  LeakRows& operator=(LeakRows&&) = delete;
  ~LeakRows() = default;

  // As it happens; `made` is the event or the block that has the keys.
  template <typename Subject>
  void allocate(const Subject& made, std::uint64_t time_ns, SiteHistory::Blocks blocks) {
    rows_.row(made).history.allocate(timeline_, time_ns, blocks);
  }

  void free(const LiveBlock& block, std::uint64_t time_ns, SiteHistory::Blocks blocks) {
    rows_.row(block).history.free(timeline_, time_ns, block.time_ns, blocks);
  }

  // Events were lost before this time, the last ones; 0: none.
  void note_loss(std::uint64_t time_ns);

  // The blocks of a report; they outlive it.
  void set(std::vector<const LiveBlock*> blocks, View::Span span);

  // Behind set(): others that are live and that the report does not list.
  void note_unlisted(const std::vector<const LiveBlock*>& blocks);

  // Behind set(): how much of their pages the listed blocks keep. `all`: also those of other rows.
  void note_pages(const std::vector<const LiveBlock*>& all, std::uint64_t page_size_bytes);

  // The frees of blocks are not known: columns of verdicts stay empty.
  void leave_verdicts_out() { has_frees_ = false; }

  // Forgets the report, and not what became of blocks.
  void clear();

  const std::vector<const LiveBlock*>& blocks() const { return blocks_; }

  std::optional<std::size_t> key_index(std::string_view key) const {
    return rows_.keys().index_of(key);
  }

  // Totals, and the table by keys.
  Table& add_to(Report& report, const CellContext& context);

  Table table(const CellContext& context);

  bool has_leak() const;

  // By how fast they grow, if one of them is known to.
  void sort_by_growth(Table& table) const;

  // Each block with its address, oldest first, at most `most` of them.
  Table address_table(const CellContext& context, std::size_t most = kMaxListed) const;

 private:
  // Whether one of the rows that are shown is judged so.
  template <typename Test>
  bool has_row(Test test) const;

  GroupBy<LeakCost> rows_;
  AskedHistograms sizes_;
  KeySet address_keys_;
  Judging judging_;
  bool has_frees_ = true;
  LeakTimeline timeline_;
  std::uint64_t last_loss_ns_ = 0;
  std::vector<const LiveBlock*> blocks_;
};

}  // namespace memtrace
