// Why the kernel killed a process for want of memory.
#pragma once

#include <cstdint>
#include <string>

#include "state/world/observations.h"
#include "views/reason/reason.h"

namespace memtrace {

struct KillFacts {
  std::string trigger;     // who asked for memory
  std::string domain;      // "cgroup", "machine", "sysrq"; "" when it is not known
  std::uint64_t held = 0;  // by the victim, bytes; 0: not known
  const Observation* seen = nullptr;
};

Reason reason_of(const KillFacts& kill);

}  // namespace memtrace
