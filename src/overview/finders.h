// What to read from the report of each view; the keys that they expect stand in finding.cpp.
#pragma once

#include <vector>

#include "overview/finding.h"

namespace memtrace {

// stops.cpp: what did not get its memory.
std::vector<Finding> find_oom_kills(const Report& report, const FindingContext& context);
std::vector<Finding> find_refused_calls(const Report& report, const FindingContext& context);

// waits.cpp: who waited for memory, and for how long.
std::vector<Finding> find_reclaim(const Report& report, const FindingContext& context);
std::vector<Finding> find_swap_ins(const Report& report, const FindingContext& context);
std::vector<Finding> find_compaction(const Report& report, const FindingContext& context);
std::vector<Finding> find_throttled_writers(const Report& report, const FindingContext& context);
std::vector<Finding> find_huge_faults(const Report& report, const FindingContext& context);
std::vector<Finding> find_aggressors(const Report& report, const FindingContext& context);

// growth.cpp: what was allocated and is still there.
std::vector<Finding> find_growth(const Report& report, const FindingContext& context);
std::vector<Finding> find_tmpfs_growth(const Report& report, const FindingContext& context);

// activity.cpp: who does most of what costs time.
std::vector<Finding> find_faults(const Report& report, const FindingContext& context);
std::vector<Finding> find_cache_churn(const Report& report, const FindingContext& context);
std::vector<Finding> find_files(const Report& report, const FindingContext& context);
std::vector<Finding> find_mapping_churn(const Report& report, const FindingContext& context);
std::vector<Finding> find_slab_allocations(const Report& report, const FindingContext& context);

}  // namespace memtrace
