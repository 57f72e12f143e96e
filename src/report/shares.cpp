#include "report/shares.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/text.h"
#include "report/row_order.h"

namespace memtrace {
namespace {

// Nothing if a figure is no whole number. Unknown ones count for nothing.
std::optional<std::uint64_t> added(std::optional<std::uint64_t> sum, const Cell& cell) {
  if (!sum || std::holds_alternative<std::monostate>(cell)) {
    return sum;
  }
  const auto* number = std::get_if<std::uint64_t>(&cell);
  return number == nullptr ? std::nullopt : std::optional(*sum + *number);
}

std::optional<std::uint64_t> whole_of(const Table& table, std::size_t column) {
  std::optional<std::uint64_t> sum = 0;
  for (const auto& row : table.rows) {
    sum = added(sum, row[column]);
  }
  const std::size_t unmade = table.source == nullptr ? 0 : table.source->size();
  for (std::size_t row = 0; row < unmade; ++row) {
    sum = added(sum, table.source->figure(row, column - table.key_count));
  }
  return sum;
}

}  // namespace

bool can_be_summed(const Column& column) {
  constexpr auto kNotSums = std::to_array<std::string_view>({"avg",
                                                             "mean",
                                                             "median",
                                                             "min",
                                                             "max",
                                                             "percent",
                                                             "age",
                                                             "oldest",
                                                             "newest",
                                                             "first",
                                                             "last",
                                                             "life",
                                                             "p50",
                                                             "p90",
                                                             "p95",
                                                             "p99",
                                                             "times"});
  if (column.unit == Unit::Percent || column.unit == Unit::Address || column.unit == Unit::Text ||
      column.unit == Unit::Stack) {
    return false;
  }
  const auto words = split(column.name, '_');
  return std::find_first_of(words.begin(), words.end(), kNotSums.begin(), kNotSums.end()) ==
         words.end();
}

// A sum of rates is a rate, but rows may be of different times.
bool is_amount(const Column& column) {
  const bool has_unit =
      column.unit == Unit::Bytes || column.unit == Unit::Count || column.unit == Unit::Nanoseconds;
  return has_unit && can_be_summed(column);
}

void note_whole(Table& table, std::optional<std::size_t> chosen) {
  if (table.key_count == 0) {
    return;
  }
  for (const auto column :
       {chosen, find_column(table, table.sort), find_column(table, table.weight)}) {
    if (!column || *column < table.key_count || !is_amount(table.columns[*column])) {
      continue;
    }
    if (const auto whole = whole_of(table, *column); whole && *whole > 0) {
      table.share_of = table.columns[*column].name;
      table.whole = *whole;
    }
    return;
  }
}

std::optional<std::size_t> share_column(const Table& table) {
  return table.share_of.empty() ? std::nullopt : find_column(table, table.share_of);
}

std::optional<double> share_of(const Table& table, const std::vector<Cell>& row) {
  const auto column = share_column(table);
  const auto* number = column ? std::get_if<std::uint64_t>(&row[*column]) : nullptr;
  return number == nullptr || table.whole == 0
             ? std::nullopt
             : std::optional(static_cast<double>(*number) / static_cast<double>(table.whole));
}

}  // namespace memtrace
