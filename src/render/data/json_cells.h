// A report's cells as JSON values: raw integers in bytes and nanoseconds, null for what is not
// known.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "report/report.h"

namespace memtrace {

// A value for each column, by name; the moment by the clock that was asked for comes before at_ns.
nlohmann::ordered_json json_row(const Report& report,
                                const Table& table,
                                const std::vector<Cell>& cells);

// Before the column: a moment by the clock that was asked for; "" for other columns.
std::string added_column(const Report& report, const Column& column);

// A part of a whole, 0 to 1: a millionth is as fine as anybody reads.
double rounded_share(double share);

// As text. A program may give itself any bytes as its name: what is not UTF-8 is replaced.
// Negative: one line.
std::string json_text(const nlohmann::ordered_json& json, int indent);

}  // namespace memtrace
