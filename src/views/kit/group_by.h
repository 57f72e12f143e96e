// Folds events into rows: the inner loop of every view. Memory grows with distinct keys only.
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "report/report.h"
#include "views/kit/figures.h"
#include "views/kit/keyed_rows.h"
#include "views/kit/keys.h"
#include "views/kit/sample_errors.h"
#include "views/kit/sample_spread.h"
#include "views/kit/sums.h"

namespace memtrace {

// The rows of a table, made of what was added up.
template <typename Cost, typename Keys, typename AnyFigure, typename Context>
class GroupedRows final : public RowSource {
 public:
  GroupedRows(Keys keys,
              KeyedRows<Cost> rows,
              std::vector<AnyFigure> figures,
              Context context,
              SampleErrors<Cost> errors)
      : keys_(std::move(keys)),
        rows_(std::move(rows)),
        figures_(std::move(figures)),
        context_(std::move(context)),
        errors_(std::move(errors)) {
    rows_.forget_index();
  }

  std::size_t size() const override { return rows_.size(); }

  std::vector<Cell> keys(std::size_t row) const override {
    return keys_.cells(rows_.keys(row), context_);
  }

  Cell figure(std::size_t row, std::size_t figure) const override {
    if (figure < figures_.size()) {
      return figures_[figure].of(rows_.cost(row), context_);
    }
    const AnyFigure& off = figures_[errors_.figures()[figure - figures_.size()]];
    return errors_.cell(row, rows_.cost(row), off, context_);
  }

 private:
  Keys keys_;
  KeyedRows<Cost> rows_;
  std::vector<AnyFigure> figures_;
  Context context_;
  SampleErrors<Cost> errors_;
};

// Cost: what is added up for a row (kit/sums.h); starts at zero.
// Keys: KeySet, or another class with of(), needs_resolving(), resolve_late(), columns() and
// cells().
template <typename Cost, typename Keys = KeySet>
class GroupBy {
 public:
  explicit GroupBy(Keys keys) : keys_(std::move(keys)), rows_(keys_.size()) {}

  Keys& keys() { return keys_; }

  const Keys& keys() const { return keys_; }

  // The cost of the row that an event or a live block belongs to; valid until the next row().
  template <typename Subject>
  Cost& row(const Subject& subject) {
    Cost& cost = row_at(keys_.of(subject));
    if constexpr (SampledSubject<Subject>) {
      if (subject.weight > 1) {
        errors_.expect(rows_, cost, subject.weight, subject.sampling);
      }
    }
    return cost;
  }

  Cost& row_at(const KeyWords& words) {
    errors_.settle(rows_);
    return rows_[words];
  }

  template <typename Visitor>
  void for_each(Visitor visit) {
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      visit(rows_.cost(i));
    }
  }

  template <typename Visitor>
  void for_each_row(Visitor visit) const {
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      visit(rows_.keys(i), rows_.cost(i));
    }
  }

  Cost total() const {
    Cost sum{};
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      sum += rows_.cost(i);
    }
    return sum;
  }

  // All rows, in no order. Figures: a range of Figure<Cost, Context>.
  template <typename Figures, typename Context = CellContext>
  Table table(const Figures& figures, const Context& context) const {
    const auto changed = settled(context);
    const KeyedRows<Cost>& rows = changed ? *changed : rows_;
    Table table = empty_table(figures);
    SampleErrors<Cost> errors = settled_errors(context, rows);
    errors.add_columns(figures, table);
    table.rows.reserve(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      std::vector<Cell>& cells = table.rows.emplace_back(keys_.cells(rows.keys(i), context));
      for (const auto& figure : figures) {
        cells.push_back(figure.of(rows.cost(i), context));
      }
      for (const std::size_t figure : errors.figures()) {
        cells.push_back(errors.cell(i, rows.cost(i), figures[figure], context));
      }
    }
    return table;
  }

  // The same, and of what was added up only the rows are made that will be shown. What the context
  // refers to stays as it is until arrange().
  template <typename Figures, typename Context = CellContext>
  Table take_table(const Figures& figures, const Context& context) && {
    using AnyFigure = std::remove_cvref_t<decltype(*std::begin(figures))>;
    auto changed = settled(context);
    SampleErrors<Cost> errors = settled_errors(context, changed ? *changed : rows_);
    if (changed) {
      rows_ = std::move(*changed);
    }
    Table table = empty_table(figures);
    errors.add_columns(figures, table);
    table.source = std::make_shared<GroupedRows<Cost, Keys, AnyFigure, Context>>(
        keys_,
        std::move(rows_),
        std::vector<AnyFigure>(std::begin(figures), std::end(figures)),
        context,
        std::move(errors));
    clear();
    return table;
  }

  // A busy interval's memory is given back, not kept for the quiet ones after it.
  void clear() {
    rows_ = KeyedRows<Cost>(keys_.size());
    errors_ = {};
  }

 private:
  // A cost that can be taken back again says so with empty().
  static bool is_empty(const Cost& cost) {
    if constexpr (requires { cost.empty(); }) {
      return cost.empty();
    } else {
      return false;
    }
  }

  template <typename Figures>
  Table empty_table(const Figures& figures) const {
    Table table;
    table.columns = keys_.columns();
    table.key_count = table.columns.size();
    table.title = by_title(table.columns);
    for (const auto& figure : figures) {
      table.columns.push_back({std::string(figure.name), figure.unit});
    }
    return table;
  }

  // The rows, those put together that turn out to be one, and without empty ones. Nothing where
  // they stay as they are.
  template <typename Context>
  std::optional<KeyedRows<Cost>> settled(const Context& context) const {
    bool has_empty = false;
    for_each_row([&has_empty](const KeyWords& /*words*/, const Cost& cost) {
      has_empty = has_empty || is_empty(cost);
    });
    if (!keys_.needs_resolving()) {
      return has_empty ? std::optional(without_empty(rows_)) : std::nullopt;
    }
    KeyedRows<Cost> resolved(keys_.size());
    for_each_row([&](const KeyWords& words, const Cost& cost) {
      resolved[keys_.resolve_late(words, context)] += cost;
    });
    return without_empty(resolved);
  }

  // Of the rows that settled() made of these, or of the same.
  template <typename Context>
  SampleErrors<Cost> settled_errors(const Context& context, const KeyedRows<Cost>& rows) const {
    SampleErrors<Cost> errors = errors_;
    errors.settle(rows_);
    if (errors.empty() || &rows == &rows_) {
      return errors;
    }
    SampleErrors<Cost> moved;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      const KeyWords words = rows_.keys(i);
      if (const auto row =
              rows.find(keys_.needs_resolving() ? keys_.resolve_late(words, context) : words)) {
        moved.merge(*row, errors, i);
      }
    }
    return moved;
  }

  KeyedRows<Cost> without_empty(const KeyedRows<Cost>& rows) const {
    KeyedRows<Cost> left(keys_.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (!is_empty(rows.cost(i))) {
        left[rows.keys(i)] = rows.cost(i);
      }
    }
    return left;
  }

  Keys keys_;
  KeyedRows<Cost> rows_;
  SampleErrors<Cost> errors_;
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
