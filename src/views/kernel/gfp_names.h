// --short-gfp: the flags of an allocation in a few letters, with a legend below the table.
#pragma once

#include <string>
#include <string_view>

#include "report/report.h"
#include "views/view.h"

namespace memtrace {

inline constexpr ViewOption kShortGfpOption{
    "short-gfp", "", "GFP flags in a few letters, with a legend"};

// "GFP_KERNEL" -> "K", "__GFP_ZERO" -> "Z"; of flags that are not known the initials of their
// words. Not unlike for all flags: see shorten_gfp_names().
std::string short_gfp_name(std::string_view name);

// In the column `gfp` of the report's first table, and the legend as a table of its own. Nothing
// where there is no such column.
void shorten_gfp_names(Report& report);

}  // namespace memtrace
