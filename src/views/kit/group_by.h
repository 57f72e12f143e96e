// Folds events into rows: the inner loop of every view. Memory grows with distinct keys only.
#pragma once

#include <tsl/robin_map.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/hash.h"
#include "report/report.h"
#include "views/kit/figures.h"
#include "views/kit/keys.h"
#include "views/kit/sums.h"

namespace memtrace {

// Only the words in use take part: most reports have one key.
struct KeyWordsHash {
  std::size_t key_count = kMaxKeys;

  std::size_t operator()(const KeyWords& keys) const noexcept {
    return hash_words(std::span(keys.words).first(key_count));
  }
};

struct KeyWordsEqual {
  std::size_t key_count = kMaxKeys;

  bool operator()(const KeyWords& left, const KeyWords& right) const noexcept {
    return std::equal(left.words.begin(),
                      std::next(left.words.begin(), static_cast<std::ptrdiff_t>(key_count)),
                      right.words.begin());
  }
};

// Cost: what is added up for a row (kit/sums.h); starts at zero.
// Keys: KeySet, or another class with of(), needs_resolving(), resolve_late(), columns() and
// cells().
template <typename Cost, typename Keys = KeySet>
class GroupBy {
 public:
  explicit GroupBy(Keys keys) : keys_(std::move(keys)), rows_(no_rows()) {}

  Keys& keys() { return keys_; }

  const Keys& keys() const { return keys_; }

  // The cost of the row that an event or a live block belongs to; valid until the next row().
  template <typename Subject>
  Cost& row(const Subject& subject) {
    return rows_[keys_.of(subject)];
  }

  Cost& row_at(const KeyWords& words) { return rows_[words]; }

  template <typename Visitor>
  void for_each(Visitor visit) {
    for (auto it = rows_.begin(); it != rows_.end(); ++it) {
      visit(it.value());
    }
  }

  template <typename Visitor>
  void for_each_row(Visitor visit) const {
    for (const auto& [words, cost] : rows_) {
      visit(words, cost);
    }
  }

  Cost total() const {
    Cost sum{};
    for (const auto& [words, cost] : rows_) {
      sum += cost;
    }
    return sum;
  }

  // All rows, in no order. Figures: a range of Figure<Cost, Context>.
  template <typename Figures, typename Context = CellContext>
  Table table(const Figures& figures, const Context& context) const {
    if (!keys_.needs_resolving()) {
      return tabulate(rows_, figures, context);
    }
    Rows settled = no_rows();
    for (const auto& [words, cost] : rows_) {
      settled[keys_.resolve_late(words, context)] += cost;
    }
    return tabulate(settled, figures, context);
  }

  // A busy interval's memory is given back, not kept for the quiet ones after it.
  void clear() { rows_ = no_rows(); }

 private:
  using Rows = tsl::robin_map<KeyWords, Cost, KeyWordsHash, KeyWordsEqual>;

  Rows no_rows() const { return Rows(0, KeyWordsHash{keys_.size()}, KeyWordsEqual{keys_.size()}); }

  // A cost that can be taken back again says so with empty().
  static bool is_empty(const Cost& cost) {
    if constexpr (requires { cost.empty(); }) {
      return cost.empty();
    } else {
      return false;
    }
  }

  template <typename Figures, typename Context>
  Table tabulate(const Rows& rows, const Figures& figures, const Context& context) const {
    Table table;
    table.columns = keys_.columns();
    table.key_count = table.columns.size();
    table.title = by_title(table.columns);
    for (const auto& figure : figures) {
      table.columns.push_back({std::string(figure.name), figure.unit});
    }
    table.rows.reserve(rows.size());
    for (const auto& [words, cost] : rows) {
      if (is_empty(cost)) {
        continue;
      }
      std::vector<Cell> cells = keys_.cells(words, context);
      for (const auto& figure : figures) {
        cells.push_back(figure.of(cost, context));
      }
      table.rows.push_back(std::move(cells));
    }
    return table;
  }

  Keys keys_;
  Rows rows_;
};

// What these figures say of the cost of all rows; none that is blank or no whole number.
template <typename AnyFigure, typename Cost, typename Context>
std::vector<Total> totals_of(std::span<const AnyFigure> figures,
                             const Cost& total,
                             const Context& context) {
  std::vector<Total> totals;
  for (const AnyFigure& figure : figures) {
    const Cell cell = figure.of(total, context);
    if (const auto* value = std::get_if<std::uint64_t>(&cell)) {
      totals.push_back({std::string(figure.name), figure.unit, *value});
    }
  }
  return totals;
}

// The table's own column to sort by and to weigh stacks with, or the first figure where that is
// not shown.
inline void sort_by(Table& table, std::string_view column) {
  const bool is_shown =
      std::ranges::find(table.columns, column, &Column::name) != table.columns.end();
  table.sort = is_shown ? std::string(column) : table.columns[table.key_count].name;
  table.weight = table.sort;
}

}  // namespace memtrace
