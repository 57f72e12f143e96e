// Probes on functions of the kernel: those that were named with -e kprobe:FUNCTION(...), and with
// --kprobes those by which views see what no tracepoint tells.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "perf/event_attr.h"
#include "tracepoints/kernel_functions.h"
#include "tracepoints/uprobe_events.h"

namespace memtrace {

bool is_kprobe_event(std::string_view event);

class KernelProbes {
 public:
  // Error: no kprobes in this kernel, not root, locked down; each with its remedy.
  static Result<std::unique_ptr<KernelProbes>> open();

  // In any directory of tracefs's shape; `functions` is the list to look names up in.
  KernelProbes(ProbeGroup group, std::string functions)
      : group_(std::move(group)), functions_(std::move(functions)) {}

  // "kprobe:FUNCTION", "kprobe:FUNCTION(name=arg1,...)". Error: Usage, no such function.
  Result<EventRequest> add_event(const std::string& event, std::uint64_t period);

  // For these views. What cannot be had is told in notes().
  std::vector<EventRequest> add_for(std::span<const std::string> views);

  const std::vector<std::string>& notes() const { return notes_; }

 private:
  Result<EventRequest> define(const std::string& function, const std::string& args);
  void add_reading(const KernelReading& reading, std::vector<EventRequest>& requests);

  ProbeGroup group_;
  std::string functions_;
  std::vector<std::string> notes_;
};

}  // namespace memtrace
