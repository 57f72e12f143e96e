// A view's table read by the names of its columns, its rows added up by some of their keys. Rows
// that are not made yet (RowSource) stay so.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "report/report.h"

namespace memtrace {

struct RowGroup {
  std::vector<std::string> keys;       // in the order asked; "" where a row has none
  std::vector<std::uint64_t> figures;  // in the order asked; 0 where not known
  StackId stack;                       // of the row with the largest first figure
  std::uint64_t stack_figure = 0;      // that figure
};

// The largest first figure first. Figures are added up, except that those whose names begin with
// max take the largest. A column that the table does not have is a key of "" or a figure of 0.
std::vector<RowGroup> group_rows(const Table& table,
                                 std::span<const std::string_view> keys,
                                 std::span<const std::string_view> figures);

std::size_t row_count(const Table& table);

// The table's cell as text or number; "" or 0 where there is none.
std::string text_at(const Table& table, std::size_t row, std::string_view column);
std::uint64_t figure_at(const Table& table, std::size_t row, std::string_view column);

// The row's stack, none if the table has no column of that name.
StackId stack_at(const Table& table, std::size_t row);

// The table with this column, or null.
const Table* table_with(const Report& report, std::string_view column);

}  // namespace memtrace
