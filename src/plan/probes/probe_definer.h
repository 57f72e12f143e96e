// User probes as events, by whichever way this machine allows: tracefs's uprobe_events, else the
// uprobe PMU, whose samples are made to look the same (decode/probe_samples.h).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "perf/event/event_attr.h"
#include "plan/probes/probe_slots.h"
#include "tracepoints/probe/uprobe_events.h"
#include "tracepoints/probe/uprobe_pmu.h"

namespace memtrace {

class ProbeDefiner {
 public:
  // Error: neither way can be gone; it says why tracefs cannot be used.
  static Result<ProbeDefiner> open(ProbeKind kind);

  // Defines nothing: what would be defined can be asked for with commands(). Its group is nobody's,
  // and no run of memtrace removes it.
  static ProbeDefiner plan(ProbeKind kind);

  // In a group that is there.
  explicit ProbeDefiner(ProbeGroup group) : group_(std::move(group)) {}

  // Arguments may be in memory, not in registers alone.
  bool fetches_memory();

  // The same, as a part of an event of the kernel's that is shared with others of its kind and with
  // or without stacks, where the kernel can do that (perf/event/event_attr.h, SharedProbe): quick
  // to open and to remove. Those that were defined before end_sharing() may have been opened since.
  // `filter` is what the event's filter will be.
  Result<EventRequest> define_shared(const ProbeDefinition& definition,
                                     bool has_stack,
                                     const std::string& filter);

  void end_sharing() { shares_.clear(); }

  // All that was defined; close the events before. Error: as ProbeGroup::remove.
  Result<> remove() { return group_ ? group_->remove() : Result<>(kDone); }

  // The lines of a plan for uprobe_events.
  const std::vector<std::string>& commands() const { return commands_; }

  // The event, with a period of 1 and stacks. Error: as ProbeGroup::define, UprobePmu::attr_for.
  Result<EventRequest> define(const ProbeDefinition& definition);

 private:
  ProbeDefiner() = default;

  Result<EventRequest> define_by_pmu(const ProbeDefinition& definition);
  Result<EventRequest> define_without_arguments(const ProbeDefinition& definition);
  EventRequest plan(const ProbeDefinition& definition);
  bool can_share();

  struct Share {
    DefinedProbe event;
    ProbeSlots slots;
    std::uint32_t number_offset = 0;
    std::uint32_t count = 0;
    std::size_t filter_bytes = 0;  // as long as the filter of all its probes can become
  };

  Result<EventRequest> add_to_share(Share& share, const ProbeDefinition& definition);

  std::optional<ProbeGroup> group_;
  std::optional<bool> fetches_memory_;
  // Without a group:
  std::optional<UprobePmu> pmu_;
  std::string group_name_;
  std::vector<std::string> names_;
  std::uint16_t next_id_ = 0;
  bool is_plan_ = false;
  std::vector<std::string> commands_;
  std::optional<bool> can_share_;
  std::map<std::pair<bool, bool>, Share> shares_;  // by whether they are return probes, have stacks
};

}  // namespace memtrace
