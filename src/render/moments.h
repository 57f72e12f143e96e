// When something happened, by the clock that the reader chose.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "report/report.h"

namespace memtrace {

// "14:03:59.123456", with "11-24 " in front if that is not the day on which the report begins;
// "6039.144123", of the records' clock; "1.25 s" since the report began.
std::string moment_text(const Report& report, std::uint64_t offset_ns);

// What stands above them.
std::string moment_header(const Report& report);

// For programs: the column that comes before at_ns, and its cells. Without one "".
std::string moment_column(const Report& report);
Cell moment_cell(const Report& report, const Cell& offset_ns);

// "1.25 s from 2026-11-23 14:03:59 +01:00", "1.25 s"; "" for no time at all.
std::string span_text(const Report& report);

}  // namespace memtrace
