// User probes as events, by whichever way this machine allows: tracefs's uprobe_events, else the
// uprobe PMU, whose samples are made to look the same (pipeline/probe_samples.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "perf/event_attr.h"
#include "tracepoints/uprobe_events.h"
#include "tracepoints/uprobe_pmu.h"

namespace memtrace {

class ProbeDefiner {
 public:
  // Error: neither way can be gone; it says why tracefs cannot be used.
  static Result<ProbeDefiner> open(ProbeKind kind);

  // Arguments may be in memory, not in registers alone.
  bool fetches_memory() const { return group_.has_value(); }

  // The event, with a period of 1 and stacks. Error: as ProbeGroup::define, UprobePmu::attr_for.
  Result<EventRequest> define(const ProbeDefinition& definition);

 private:
  ProbeDefiner() = default;

  Result<EventRequest> define_by_pmu(const ProbeDefinition& definition);

  std::optional<ProbeGroup> group_;
  // Without a group:
  std::optional<UprobePmu> pmu_;
  std::string group_name_;
  std::vector<std::string> names_;
  std::uint16_t next_id_ = 0;
};

}  // namespace memtrace
