#include "overview/row_groups.h"

#include <algorithm>
#include <map>
#include <optional>

namespace memtrace {
namespace {

std::optional<std::size_t> column_of(const Table& table, std::string_view name) {
  const auto found = std::ranges::find(table.columns, name, &Column::name);
  return found == table.columns.end()
             ? std::nullopt
             : std::optional(static_cast<std::size_t>(found - table.columns.begin()));
}

std::vector<std::optional<std::size_t>> columns_of(const Table& table,
                                                   std::span<const std::string_view> names) {
  std::vector<std::optional<std::size_t>> columns;
  for (const std::string_view name : names) {
    columns.push_back(column_of(table, name));
  }
  return columns;
}

std::string text_of(const Cell& cell) {
  const auto* text = std::get_if<std::string>(&cell);
  const auto* number = std::get_if<std::uint64_t>(&cell);
  return text != nullptr ? *text : number != nullptr ? std::to_string(*number) : std::string();
}

std::uint64_t figure_of(const Cell& cell) {
  if (const auto* number = std::get_if<std::uint64_t>(&cell)) {
    return *number;
  }
  const auto* difference = std::get_if<std::int64_t>(&cell);
  return difference != nullptr && *difference > 0 ? static_cast<std::uint64_t>(*difference) : 0;
}

// Rows may not be made yet, and there may be a million of them: each is made when it is looked at.
std::vector<Cell> row_at(const Table& table, std::size_t row) {
  return table.source == nullptr ? table.rows[row]
                                 : table.source->cells(row, table.columns.size() - table.key_count);
}

class Grouping {
 public:
  Grouping(const Table& table,
           std::span<const std::string_view> keys,
           std::span<const std::string_view> figures)
      : keys_(columns_of(table, keys)),
        figures_(columns_of(table, figures)),
        names_(figures),
        stack_(column_of(table, "stack")) {}

  void add(const std::vector<Cell>& row) {
    std::vector<std::string> words;
    for (const auto& column : keys_) {
      words.push_back(column ? text_of(row[*column]) : std::string());
    }
    RowGroup& group = groups_[words];
    group.keys = std::move(words);
    group.figures.resize(figures_.size());
    for (std::size_t i = 0; i < figures_.size(); ++i) {
      const std::uint64_t value = figures_[i] ? figure_of(row[*figures_[i]]) : 0;
      std::uint64_t& sum = group.figures[i];
      sum = names_[i].starts_with("max") ? std::max(sum, value) : sum + value;
    }
    const std::uint64_t weight = figures_[0] ? figure_of(row[*figures_[0]]) : 0;
    if (stack_ && weight > group.stack_figure) {
      const auto* stack = std::get_if<StackId>(&row[*stack_]);
      group.stack = stack == nullptr ? group.stack : *stack;
      group.stack_figure = weight;
    }
  }

  std::vector<RowGroup> take() {
    std::vector<RowGroup> sorted;
    for (auto& [words, group] : groups_) {
      sorted.push_back(std::move(group));
    }
    std::ranges::stable_sort(sorted, [](const RowGroup& left, const RowGroup& right) {
      return left.figures[0] > right.figures[0];
    });
    return sorted;
  }

 private:
  std::vector<std::optional<std::size_t>> keys_;
  std::vector<std::optional<std::size_t>> figures_;
  std::span<const std::string_view> names_;
  std::optional<std::size_t> stack_;
  std::map<std::vector<std::string>, RowGroup> groups_;
};

}  // namespace

std::vector<RowGroup> group_rows(const Table& table,
                                 std::span<const std::string_view> keys,
                                 std::span<const std::string_view> figures) {
  Grouping grouping(table, keys, figures);
  for (std::size_t row = 0; row < row_count(table); ++row) {
    grouping.add(row_at(table, row));
  }
  return grouping.take();
}

std::size_t row_count(const Table& table) {
  return table.source == nullptr ? table.rows.size() : table.source->size();
}

std::string text_at(const Table& table, std::size_t row, std::string_view column) {
  const auto index = column_of(table, column);
  return index ? text_of(row_at(table, row)[*index]) : std::string();
}

std::uint64_t figure_at(const Table& table, std::size_t row, std::string_view column) {
  const auto index = column_of(table, column);
  return index ? figure_of(row_at(table, row)[*index]) : 0;
}

StackId stack_at(const Table& table, std::size_t row) {
  const auto index = column_of(table, "stack");
  const Cell cell = index ? row_at(table, row)[*index] : Cell();
  const auto* stack = std::get_if<StackId>(&cell);
  return stack == nullptr ? StackId() : *stack;
}

const Table* table_with(const Report& report, std::string_view column) {
  const auto has = [column](const Table& table) { return column_of(table, column).has_value(); };
  const auto found = std::ranges::find_if(report.tables, has);
  return found == report.tables.end() ? nullptr : &*found;
}

}  // namespace memtrace
