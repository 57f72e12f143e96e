// What part of the whole a row is, for tables whose rows are the parts of one sum.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "report/report.h"

namespace memtrace {

// The name of the column, in json and csv and in --sort.
inline constexpr const char* kShareName = "share";

// A sum of averages, extremes or percentages says nothing.
bool can_be_summed(const Column& column);

// Bytes, events or time that can be summed: rows can be parts of them.
bool is_amount(const Column& column);

// Makes the rows the parts of a whole: of `chosen`, the column to sort by that the user chose, or
// where that is no sum of the table's own, or of its weight. Called while the table still has all
// of its rows. It stays as it is if one of the figures is not a whole number, or if all are 0.
void note_whole(Table& table, std::optional<std::size_t> chosen);

// The column that the shares are of; nothing where rows have none.
std::optional<std::size_t> share_column(const Table& table);

// Of the row's figure, 0 to 1; nothing where the figure is not known.
std::optional<double> share_of(const Table& table, const std::vector<Cell>& row);

}  // namespace memtrace
