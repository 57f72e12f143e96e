// How far the figures of a sampled recording may be off.
#pragma once

#include "report/report.h"

namespace memtrace {

// The column that says so, in percent of the row's first count.
inline constexpr const char* kErrorName = "error";

// Of a row that counts `count` events, where one in `weight` was recorded: the true number lies
// within this many percent of it with a probability of 95 %. The number of samples varies as that
// of independent choices: by the square root of count * (weight - 1) events.
double error_percent(double count, double weight);

// Adds the column to each table of rows that count events. `weight`: how many events a sample
// counts for, of the event that was sampled most sparsely.
void add_error_bars(Report& report, double weight);

}  // namespace memtrace
