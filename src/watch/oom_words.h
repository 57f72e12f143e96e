// A kill for lack of memory in a sentence: who, for which limit or machine, and who wanted memory.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "state/world/world.h"
#include "tracepoints/event/event.h"
#include "watch/resident_sizes.h"

namespace memtrace {

// Whether the event is a kill by the OOM killer: oom:mark_victim, or where the kernel has no such
// event (before 4.13) a SIGKILL of which the kernel's log says so. `log` is asked then.
bool is_oom_kill(const Event& event, std::string (*log)());

struct OomVictimWords {
  std::string text;
  std::optional<ResidentSize> size;  // nothing: not known
};

// By the event, by what /proc said right after it (observe/oom_reader.cpp), and by the kernel's
// log: "" if it cannot be read.
OomVictimWords describe_kill(const Event& event, const World& world, std::string_view log);

// "order=3" of the log's last "invoked oom-killer" line; nothing without one.
std::optional<std::uint64_t> oom_order(std::string_view log);

}  // namespace memtrace
