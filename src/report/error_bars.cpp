#include "report/error_bars.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "report/shares.h"

namespace memtrace {
namespace {

bool has_errors(const Table& table) {
  const auto begin = table.columns.begin() + static_cast<std::ptrdiff_t>(table.key_count);
  return std::ranges::any_of(begin, table.columns.end(), [](const Column& column) {
    return column.name == kErrorName || column.name == kBytesErrorName;
  });
}

std::optional<std::size_t> first_count(const Table& table) {
  for (std::size_t i = table.key_count; i < table.columns.size(); ++i) {
    if (table.columns[i].unit == Unit::Count && is_amount(table.columns[i])) {
      return i;
    }
  }
  return std::nullopt;
}

Cell error_cell(const Cell& count, double weight) {
  const auto* number = std::get_if<std::uint64_t>(&count);
  return number == nullptr || *number == 0
             ? Cell()
             : Cell(error_percent(static_cast<double>(*number), weight));
}

}  // namespace

double error_percent(double count, double weight) {
  constexpr double kPercent = 100;
  return kPercent * kErrorDeviations * std::sqrt(std::max(0.0, weight - 1) / count);
}

void add_error_bars(Report& report, double weight) {
  for (Table& table : report.tables) {
    const auto count = first_count(table);
    if (table.fixed || table.entries || table.key_count == 0 || !count || has_errors(table)) {
      continue;
    }
    for (auto& row : table.rows) {
      row.push_back(error_cell(row[*count], weight));
    }
    table.columns.push_back({kErrorName, Unit::Percent});
  }
}

}  // namespace memtrace
