#include "perf/target/fixed_addresses.h"

#include <algorithm>

#include "os/host_machine.h"
#include "os/system.h"

namespace memtrace {
namespace {

// Linux says so only of a processor whose fifth level it uses.
bool has_five_levels() {
  const auto processors = read_file("/proc/cpuinfo");
  return !processors.ok() || processors.value().find(" la57") != std::string::npos;
}

}  // namespace

Addresses addresses_for(const Target& target,
                        std::span<const EventRequest> events,
                        const CallGraph& call_graph) {
#if defined(__x86_64__)
  const bool copies_stacks = std::ranges::any_of(events, [&](const EventRequest& request) {
    return call_graph_of(request, call_graph).stack_bytes != 0;
  });
  // Beside processes or threads the command only runs; it is not watched.
  const bool is_watched = !target.command.empty() &&
                          (target.kind == TargetKind::Command || target.kind == TargetKind::System);
  const bool helps = is_watched && copies_stacks && !has_five_levels();
  return helps && !target.keep_aslr ? Addresses::Fixed : Addresses::Random;
#else
  (void)target, (void)events, (void)call_graph;
  return Addresses::Random;
#endif
}

}  // namespace memtrace
