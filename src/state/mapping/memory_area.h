// One mapping of a process: what lies behind a range of its addresses.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/ids.h"

namespace memtrace {

enum class AreaKind : std::uint8_t {
  File,
  Heap,          // brk's
  Stack,         // the first thread's; others have anonymous memory
  Anonymous,     // private
  SharedMemory,  // System V, memfd, /dev/shm, anonymous and shared
  HugePages,     // hugetlb, of whatever else
  Special,       // vdso and the like
};

struct MemoryArea {
  AreaKind kind = AreaKind::Anonymous;
  StringId path = {};  // as the kernel has it: "/lib/libc.so.6", "/memfd:x (deleted)", "[heap]"
  std::uint32_t major = 0, minor = 0;  // of the device that the inode is on
  std::uint64_t inode = 0;
  std::uint32_t protection = 0;  // PROT_*
  std::uint32_t flags = 0;       // MAP_SHARED or MAP_PRIVATE, MAP_LOCKED, MAP_HUGETLB; 0: not known
  // What to add to an address to get its offset in the file; kept instead of the start so that an
  // area cut in two stays right. 0 where there is no file (has_offset).
  std::uint64_t offset_minus_avma = 0;

  bool has_offset() const {
    return kind == AreaKind::File || kind == AreaKind::SharedMemory || kind == AreaKind::HugePages;
  }

  friend bool operator==(const MemoryArea&, const MemoryArea&) = default;
};

// By the name and the flags that the kernel gives it in mmap records and /proc/PID/maps.
AreaKind area_kind(std::string_view path, std::uint32_t flags);

// "file", "heap", "stack", "anonymous", "shared memory", "huge pages", "special".
std::string_view name_of(AreaKind kind);

}  // namespace memtrace
