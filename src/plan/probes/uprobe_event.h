// -e uprobe:PATH:FUNCTION[(NAME=VALUE,...)] as probes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "programs/target_objects.h"
#include "tracepoints/probe/uprobe_events.h"

namespace memtrace {

struct UprobeEvent {
  std::string path;      // a path, or a library's name: "libc.so.6", "libc"
  std::string function;  // may be a pattern
  bool is_return = false;
  std::string arguments;  // as uprobe_events takes them
};

bool is_uprobe_event(std::string_view event);

// Forms of VALUE: argN[:TYPE], TYPE alone (the argument at that place of the list), retval[:TYPE],
// or what uprobe_events takes itself: %di:u64, +8(%si):string. FUNCTION%return probes the return.
// Error: Usage.
Result<UprobeEvent> parse_uprobe_event(std::string_view event);

// What stands in the parentheses, for uprobe_events and kprobe_events: "size=%si:u64". Error:
// Usage; `event` is named in it.
Result<std::string> parse_probe_arguments(std::string_view event, std::string_view list);

// A definition for each function that matches. Error: Usage, no such file or function, with the
// nearest.
Result<std::vector<ProbeDefinition>> find_uprobe_places(const UprobeEvent& event,
                                                        const std::vector<TargetObject>& objects);

}  // namespace memtrace
