// -e sdt:PATH:PROVIDER:NAME as probes: static probes that programs bring along, <sys/sdt.h>.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "programs/target_objects.h"
#include "tracepoints/probe/uprobe_events.h"

namespace memtrace {

struct SdtEvent {
  std::string path;      // a path, a library's name, or "*": whatever file of the target has it
  std::string provider;  // "libc"; may be a pattern
  std::string name;      // "memory_arena_new"; may be a pattern
};

bool is_sdt_event(std::string_view event);

// Error: Usage.
Result<SdtEvent> parse_sdt_event(std::string_view event);

// One place of a probe. Its arguments are fields arg1, arg2 and so on.
struct SdtPlace {
  ProbeDefinition definition;
  std::string register_args;           // those of definition.args that old kernels can fetch, too
  std::vector<std::string> unfetched;  // operands that no uprobe fetches: "8@8(%rax,%rbx,8)"
};

// Error: Usage, no such file or probe, with the nearest.
Result<std::vector<SdtPlace>> find_sdt_places(const SdtEvent& event,
                                              const std::vector<TargetObject>& objects);

}  // namespace memtrace
