// The tables of the view ledger.
#pragma once

#include <span>
#include <vector>

#include "report/report.h"
#include "views/resident/heap_sizes.h"
#include "views/resident/ledger_processes.h"

namespace memtrace {

struct LedgerKeys {
  bool process = true;
  bool mapping = false;
};

// `is_counted`: the recording has kmem:rss_stat.

// One row for each process or mapping: its size before and after, and the sums of what changed.
Table ledger_table(const std::vector<LedgerProcess>& processes, LedgerKeys keys, bool is_counted);

// The changes of each, line by line.
Table changes_table(const std::vector<LedgerProcess>& processes, LedgerKeys keys, bool is_counted);

// What is no part of the resident size: a row for each process that runs at the end.
Table beside_table(const std::vector<LedgerProcess>& processes, const HeapSizes& heap);

}  // namespace memtrace
