// The machine and the time that a row is of, for rows of many machines in one place.
#pragma once

#include <string>
#include <vector>

#include "report/report.h"

namespace memtrace {

struct HostColumn {
  std::string name{};
  std::string value{};  // "": not known
};

// host, boot_id, start_time, end_time, view: times as RFC 3339 has them.
std::vector<HostColumn> host_columns(const Report& report);

}  // namespace memtrace
