// How far the figures of a sampled recording may be off.
#pragma once

#include "report/report.h"

namespace memtrace {

// The columns that say so, in percent of the row's first count and of its first sum of bytes: the
// true figure lies within this distance with a probability of 95 %.
inline constexpr const char* kErrorName = "error";
inline constexpr const char* kBytesErrorName = "bytes_error";

// 95 % of a normal distribution lie within this number of standard deviations.
inline constexpr double kErrorDeviations = 1.96;

// Of a row that counts `count` events, where one in `weight` was recorded: the true number lies
// within this many percent of it with a probability of 95 %. The number of samples varies as that
// of independent choices: by the square root of count * (weight - 1) events.
double error_percent(double count, double weight);

// Adds the column to each table of rows that count events and have none yet: where the view knows
// each event (views/kit/sample_errors.h) it knows better. `weight`: how many events a sample
// counts for, of the event that was sampled most sparsely.
void add_error_bars(Report& report, double weight);

}  // namespace memtrace
