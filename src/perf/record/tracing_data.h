// The TRACING_DATA section: format texts of the recorded tracepoints as tracefs gave them. Layout:
// tools/perf/util/trace-event-{info,read}.c, versions "0.5" (RHEL 6 and 7) and "0.6".
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace memtrace {

struct TracepointFormat {
  std::uint64_t id = 0;  // from its "ID:" line; perf_event_attr.config of its events
  std::string system;
  std::string name;
  std::string text;
};

struct TracingData {
  std::uint32_t page_size_bytes = 4096;
  std::string header_page;
  std::string header_event;
  std::vector<TracepointFormat> formats;
  bool is_whole = true;  // false: cut; `formats` are those before the cut
};

// Error: not such a section, or of a big-endian machine.
Result<TracingData> parse_tracing_data(std::span<const std::byte> bytes);

std::vector<std::byte> write_tracing_data(const TracingData& data);

// system, name and id of one format text; the system comes from elsewhere.
TracepointFormat describe_format(std::string system, std::string text);

}  // namespace memtrace
