// The perf commands that record what memtrace would: for hosts that have perf and nothing else.
#pragma once

#include <string>
#include <vector>

#include "recording/recorder.h"

namespace memtrace {

struct PerfCommand {
  std::vector<std::string> before;  // lines for a shell: probes to define
  std::string record;
  std::vector<std::string> after;  // and to remove
  std::vector<std::string> notes;  // what perf cannot do
};

struct PerfHost {
  std::string tracing_directory;  // where uprobe_events is
  std::size_t ring_bytes = 0;     // perf's own are of 512 KiB, which a burst fills at once
};

PerfCommand perf_command_for(const RecordOptions& options, const PerfHost& host);

}  // namespace memtrace
