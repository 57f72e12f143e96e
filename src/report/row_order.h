// The order of a table's rows: by one column, ties by the key cells.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "report/namer.h"
#include "report/report.h"

namespace memtrace {

std::optional<std::size_t> find_column(const Table& table, std::string_view name);

// Numbers largest first, text, places and stacks by name in ascending order, unknown cells last.
// Equal rows are ordered by their key cells, ascending: the same events give the same report.
// Without a column the key cells alone decide.
void sort_rows(Table& table, std::optional<std::size_t> column, Namer& namer);

}  // namespace memtrace
