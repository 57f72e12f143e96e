// Probes on functions of the kernel: those that were named with -e kprobe:FUNCTION(...), and with
// --kprobes those that give views what no tracepoint reports.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "perf/event/event_attr.h"
#include "tracepoints/probe/kernel_functions.h"
#include "tracepoints/probe/uprobe_events.h"

namespace memtrace {

bool is_kprobe_event(std::string_view event);

class KernelProbes {
 public:
  // Error: no kprobes in this kernel, not root, locked down; each with its remedy.
  static Result<std::unique_ptr<KernelProbes>> open();

  // Nothing is defined: the events are those of the probes that perf would place.
  static std::unique_ptr<KernelProbes> plan();

  // In any directory of tracefs's shape; `functions` is the list to look names up in. Without a
  // group it is a plan; without a list, all that is known of is taken to be there.
  KernelProbes(std::optional<ProbeGroup> group, std::string functions)
      : group_(std::move(group)), functions_(std::move(functions)) {}

  // "kprobe:FUNCTION", "kprobe:FUNCTION(name=arg1,...)". Error: Usage, no such function.
  Result<EventRequest> add_event(const std::string& event, std::uint64_t period);

  // Plans the probes for these views. notes() names those that are not possible.
  std::vector<EventRequest> add_for(std::span<const std::string> views);

  const std::vector<std::string>& notes() const { return notes_; }

  struct Planned {
    std::string event;  // "hugetlb_fault", in perf's group "probe"
    std::string function;
    std::string args;
  };

  // Part of a plan.
  const std::vector<Planned>& planned() const { return planned_; }

 private:
  std::optional<std::string> find(std::string_view function) const;
  Result<EventRequest> define(const std::string& function, const std::string& args);
  EventRequest plan(const std::string& function, const std::string& args);
  void add_reading(const KernelReading& reading, std::vector<EventRequest>& requests);

  std::optional<ProbeGroup> group_;
  std::string functions_;
  std::vector<std::string> notes_;
  std::vector<Planned> planned_;
};

}  // namespace memtrace
