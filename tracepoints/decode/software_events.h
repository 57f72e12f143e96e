// Events that the kernel counts without a tracepoint: no tracefs, no format, no raw fields.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace memtrace {

struct SoftwareEvent {
  std::string_view name;
  std::uint64_t config = 0;  // PERF_COUNT_SW_*
};

std::span<const SoftwareEvent> software_events();

// Also under perf's short names ("faults", "cs", "migrations"); the result has the full name.
std::optional<SoftwareEvent> find_software_event(std::string_view name);

}  // namespace memtrace
