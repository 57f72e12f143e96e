#include "render/data/host_columns.h"

#include "base/wall_time.h"

namespace memtrace {

std::vector<HostColumn> host_columns(const Report& report) {
  const std::uint64_t start_ns = report.clock.wall_start_ns;
  const std::uint64_t span_ns = report.end_ns - report.start_ns;
  return {{"host", report.origin.host},
          {"boot_id", report.origin.boot_id},
          {"start_time", start_ns == 0 ? "" : rfc3339(start_ns)},
          {"end_time", start_ns == 0 ? "" : rfc3339(start_ns + span_ns)},
          {"view", report.view}};
}

}  // namespace memtrace
