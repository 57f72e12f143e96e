// The callers of probed functions of the kernel, in the stacks that lack them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tracepoints/event/event.h"

namespace memtrace {

// "oom_kill_process out_of_memory" becomes "oom_kill_process mem_cgroup_out_of_memory
// out_of_memory" by what the probe found on the stack (kProbedCaller).
class ProbedCallers {
 public:
  // Once for each type, in the order of their numbers. They stay where they are.
  void learn(const EventType& type);

  // The callchain, with markers, of a sample of this type. Valid until the next call.
  std::span<const std::uint64_t> complete(const EventType& type,
                                          std::span<const std::uint64_t> chain,
                                          std::span<const std::byte> raw);

 private:
  std::vector<const Field*> callers_;  // by type; null: it does not say
  std::vector<std::uint64_t> completed_;
};

}  // namespace memtrace
