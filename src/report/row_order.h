// The order of a table's rows: by one column, ties by the table's weight, and then by the key
// cells.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "report/namer.h"
#include "report/report.h"

namespace memtrace {

std::optional<std::size_t> find_column(const Table& table, std::string_view name);

// The numbers of the source's rows, the first `count` in the order of sort_rows(), all others
// behind them. Nothing where the order is not that of whole numbers.
std::optional<std::vector<std::uint32_t>> first_rows(const Table& table,
                                                     std::optional<std::size_t> column,
                                                     std::size_t count);

// Numbers largest first, text, places and stacks by name in ascending order, unknown cells last.
// Equal rows are ordered by the table's weight, and else by their key cells, ascending: the same
// events give the same report.
// Without a column the key cells alone decide.
void sort_rows(Table& table, std::optional<std::size_t> column, Namer& namer);

}  // namespace memtrace
