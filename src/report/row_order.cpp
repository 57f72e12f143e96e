#include "report/row_order.h"

#include <algorithm>
#include <cmath>
#include <compare>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace memtrace {
namespace {

enum class Kind { Number, Id, Text, Unknown };

Kind kind_of(const Cell& cell) {
  if (const auto* number = std::get_if<double>(&cell)) {
    return std::isnan(*number) ? Kind::Unknown : Kind::Number;
  }
  if (std::holds_alternative<std::uint64_t>(cell) || std::holds_alternative<std::int64_t>(cell)) {
    return Kind::Number;
  }
  if (std::holds_alternative<std::string>(cell)) {
    return Kind::Text;
  }
  return std::holds_alternative<std::monostate>(cell) ? Kind::Unknown : Kind::Id;
}

// long double holds every 64-bit integer exactly on x86-64 and aarch64; double does not.
long double number_of(const Cell& cell) {
  if (const auto* number = std::get_if<std::uint64_t>(&cell)) {
    return static_cast<long double>(*number);
  }
  if (const auto* number = std::get_if<std::int64_t>(&cell)) {
    return static_cast<long double>(*number);
  }
  return static_cast<long double>(std::get<double>(cell));
}

std::weak_ordering compare_numbers(const Cell& left, const Cell& right) {
  const auto* left_number = std::get_if<std::uint64_t>(&left);
  const auto* right_number = std::get_if<std::uint64_t>(&right);
  if (left_number != nullptr && right_number != nullptr) {
    return *left_number <=> *right_number;
  }
  const long double a = number_of(left);
  const long double b = number_of(right);
  if (a < b) {
    return std::weak_ordering::less;
  }
  return a > b ? std::weak_ordering::greater : std::weak_ordering::equivalent;
}

// Unknown cells are greater than all others. Stacks and places are alike: two threads number them,
// in an order of their own. Rows that are alike stay in the order in which they came.
std::weak_ordering compare(const Cell& left, const Cell& right) {
  const Kind kind = kind_of(left);
  if (kind != kind_of(right)) {
    return kind <=> kind_of(right);
  }
  switch (kind) {
    case Kind::Number:
      return compare_numbers(left, right);
    case Kind::Text:
      return std::get<std::string>(left) <=> std::get<std::string>(right);
    case Kind::Id:
    case Kind::Unknown:
      break;
  }
  return std::weak_ordering::equivalent;
}

std::string functions(const Frames& frames) {
  std::string names;
  for (const Frame& frame : frames) {
    names += frame.function;
    names += '\n';  // in no name, and before every character of one
  }
  return names;
}

// What the rows are compared by, side by side in memory, with places and stacks already named.
std::vector<Cell> sort_cells(const Table& table, std::size_t column, Namer& namer) {
  std::vector<Cell> cells;
  cells.reserve(table.rows.size());
  for (const auto& row : table.rows) {
    const Cell& cell = row[column];
    const auto* stack = std::get_if<StackId>(&cell);
    const auto* location = std::get_if<LocationId>(&cell);
    if (stack != nullptr && stack->valid()) {
      cells.emplace_back(functions(namer.stack(*stack)));
    } else if (location != nullptr && location->valid()) {
      cells.emplace_back(functions(namer.location(*location)));
    } else if (stack != nullptr || location != nullptr) {
      cells.emplace_back();
    } else {
      cells.push_back(cell);
    }
  }
  return cells;
}

std::weak_ordering compare_keys(const Table& table, std::size_t left, std::size_t right) {
  for (std::size_t key = 0; key < table.key_count; ++key) {
    const auto order = compare(table.rows[left][key], table.rows[right][key]);
    if (std::is_neq(order)) {
      return order;
    }
  }
  return left <=> right;
}

std::weak_ordering compare_keys(const RowSource& source, std::uint32_t left, std::uint32_t right) {
  const std::vector<Cell> left_keys = source.keys(left);
  const std::vector<Cell> right_keys = source.keys(right);
  for (std::size_t key = 0; key < left_keys.size(); ++key) {
    const auto order = compare(left_keys[key], right_keys[key]);
    if (std::is_neq(order)) {
      return order;
    }
  }
  return left <=> right;
}

// Equal rows are ordered by the figure that matters most in their table.
std::optional<std::size_t> second_column(const Table& table, std::optional<std::size_t> column) {
  const auto weight = find_column(table, table.weight);
  return column && weight && *weight != *column && *weight >= table.key_count ? weight
                                                                              : std::nullopt;
}

bool comes_first(const Cell& left, const Cell& right, bool largest_first) {
  const bool either_unknown = kind_of(left) == Kind::Unknown || kind_of(right) == Kind::Unknown;
  const auto order = compare(left, right);
  return largest_first && !either_unknown ? std::is_gt(order) : std::is_lt(order);
}

}  // namespace

std::optional<std::size_t> find_column(const Table& table, std::string_view name) {
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    if (table.columns[i].name == name) {
      return i;
    }
  }
  return std::nullopt;
}

std::optional<std::vector<std::uint32_t>> first_rows(const Table& table,
                                                     std::optional<std::size_t> column,
                                                     std::size_t count) {
  if (!column || *column < table.key_count) {
    return std::nullopt;
  }
  const RowSource& source = *table.source;
  std::vector<std::uint64_t> numbers;
  numbers.reserve(source.size());
  for (std::size_t row = 0; row < source.size(); ++row) {
    const Cell cell = source.figure(row, *column - table.key_count);
    const auto* number = std::get_if<std::uint64_t>(&cell);
    if (number == nullptr) {
      return std::nullopt;
    }
    numbers.push_back(*number);
  }
  std::vector<std::uint32_t> order(source.size());
  std::iota(order.begin(), order.end(), std::uint32_t{0});
  const auto second = second_column(table, column);
  const auto comes_before = [&](std::uint32_t left, std::uint32_t right) {
    if (numbers[left] != numbers[right]) {
      return numbers[left] > numbers[right];
    }
    const Cell of_left = second ? source.figure(left, *second - table.key_count) : Cell();
    const Cell of_right = second ? source.figure(right, *second - table.key_count) : Cell();
    return std::is_neq(compare(of_left, of_right)) ? comes_first(of_left, of_right, true)
                                                   : std::is_lt(compare_keys(source, left, right));
  };
  const auto end = order.begin() + static_cast<std::ptrdiff_t>(std::min(count, order.size()));
  std::partial_sort(order.begin(), end, order.end(), comes_before);
  std::sort(end, order.end());  // what is added up is so in the order of the rows
  return order;
}

void sort_rows(Table& table, std::optional<std::size_t> column, Namer& namer) {
  std::vector<std::size_t> order(table.rows.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::vector<Cell> cells;
  const auto second = second_column(table, column);
  bool largest_first = false;
  if (column) {
    const Unit unit = table.columns[*column].unit;
    largest_first = unit != Unit::Text && unit != Unit::Stack;
    cells = sort_cells(table, *column, namer);
  }
  std::sort(order.begin(), order.end(), [&](std::size_t left, std::size_t right) {
    if (column && std::is_neq(compare(cells[left], cells[right]))) {
      return comes_first(cells[left], cells[right], largest_first);
    }
    if (second && std::is_neq(compare(table.rows[left][*second], table.rows[right][*second]))) {
      return comes_first(table.rows[left][*second], table.rows[right][*second], true);
    }
    return std::is_lt(compare_keys(table, left, right));
  });
  std::vector<std::vector<Cell>> sorted;
  sorted.reserve(order.size());
  for (const std::size_t row : order) {
    sorted.push_back(std::move(table.rows[row]));
  }
  table.rows = std::move(sorted);
}

}  // namespace memtrace
