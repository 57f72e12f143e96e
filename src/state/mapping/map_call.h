// Successful system calls that change an address space, in one form.
#pragma once

#include <cstdint>
#include <optional>

#include "tracepoints/event/event_syscalls.h"

namespace memtrace {

enum class MapOp : std::uint8_t { Map, Unmap, Protect, Remap, Advise, Break };

struct MapCall {
  MapOp op = MapOp::Map;
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  std::uint64_t new_bytes = 0;  // mremap's
  std::uint64_t protection = 0;
  std::uint64_t flags = 0;  // mmap's and mremap's; madvise's advice
};

struct Map {
  MapCall call;
  std::uint64_t result = 0;
};

// Nothing for a call that failed or changes nothing.
std::optional<Map> map_of(const SystemCallDone& done);

}  // namespace memtrace
