// The table of mappings as a report shows it, and what views that use it owe their readers.
#pragma once

#include <string_view>

#include "report/report.h"
#include "views/kit/keys.h"

namespace memtrace {

inline constexpr std::string_view kNoDataMappingsNote =
    "only mappings of code are known: record with --for a view that needs the others, such as "
    "mmap";

// All mappings of the processes that pass the filter, as they are now.
Table memory_map_table(const CellContext& context, const TaskFilter& tasks);

}  // namespace memtrace
