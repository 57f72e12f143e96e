// The histograms of a table's rows.
#pragma once

#include "report/report.h"

namespace memtrace {

// Those of rows that the table does not have any more go.
void drop_lost_histograms(Table& table);

// In the order of the rows. If the last row is the sum of others, so is its histogram.
void order_histograms(Table& table);

// The row's; nullptr where there is none.
const Histogram* histogram_of(const Table& table, const std::vector<Cell>& row);

}  // namespace memtrace
