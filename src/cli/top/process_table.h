// The processes of the first pane: what several views say of each, and its resident memory.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "report/report.h"

namespace memtrace {

struct ResidentProcess {
  std::uint32_t pid = 0;
  std::string comm;
  std::uint64_t rss_bytes = 0;
};

// What /proc says of all processes that have memory, or of these. Those that end while they are
// read are left out.
std::vector<ResidentProcess> read_resident(const std::vector<std::uint32_t>& pids);

// Reports of kmalloc, pages and faults by comm and pid, a row for each process. The columns pid and
// comm, then kmalloc, pages and live (bytes), faults and major (counts), rss (bytes).
Table process_table(const std::vector<Report>& reports,
                    const std::vector<ResidentProcess>& resident);

}  // namespace memtrace
