#include "tracepoints/decode/software_events.h"

#include <array>
#include <utility>

namespace memtrace {
namespace {

// include/uapi/linux/perf_event.h, enum perf_sw_ids: part of the kernel's ABI. dummy is from 3.12.
constexpr std::array<SoftwareEvent, 10> kEvents = {{{"cpu-clock", 0},
                                                    {"task-clock", 1},
                                                    {"page-faults", 2},
                                                    {"context-switches", 3},
                                                    {"cpu-migrations", 4},
                                                    {"minor-faults", 5},
                                                    {"major-faults", 6},
                                                    {"alignment-faults", 7},
                                                    {"emulation-faults", 8},
                                                    {"dummy", 9}}};

// tools/perf/util/parse-events.c, event_symbols_sw.
constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kShortNames = {
    {{"faults", "page-faults"}, {"cs", "context-switches"}, {"migrations", "cpu-migrations"}}};

}  // namespace

std::span<const SoftwareEvent> software_events() {
  return kEvents;
}

std::optional<SoftwareEvent> find_software_event(std::string_view name) {
  for (const auto& [short_name, full_name] : kShortNames) {
    if (name == short_name) {
      name = full_name;
    }
  }
  for (const SoftwareEvent& event : kEvents) {
    if (event.name == name) {
      return event;
    }
  }
  return std::nullopt;
}

}  // namespace memtrace
