// Payloads of system calls that change an address space.
#pragma once

#include <cstdint>

namespace memtrace {

// System calls that change an address space.
enum class MapOp : std::uint8_t { Map, Unmap, Protect, Remap, Advise, Break };

// syscalls:sys_enter_mmap and so on.
struct MapCall {
  MapOp op = MapOp::Map;
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  std::uint64_t new_bytes = 0;  // mremap's
  std::uint64_t protection = 0;
  std::uint64_t flags = 0;  // mmap's and mremap's; madvise's advice
};

// syscalls:sys_exit_mmap and so on.
struct MapReturn {
  MapOp op = MapOp::Map;
  std::int64_t result = 0;  // -errno on failure
};

// Made of both: a call that succeeded. brk(2) returns the top as it is, whatever it was asked for.
struct Map {
  MapCall call;
  std::uint64_t result = 0;
};

}  // namespace memtrace
