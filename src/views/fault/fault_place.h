// What is at the address of a page fault.
#pragma once

#include <cstdint>

#include "base/ids.h"
#include "state/world/file_names.h"
#include "state/world/world.h"

namespace memtrace {

// Unknown: the recording does not hold the mappings of processes.
enum class PlaceKind : std::uint8_t {
  Unknown,
  Unmapped,
  File,
  Heap,
  Stack,
  Anonymous,
  SharedMemory,
  Hugetlb,
  Special,  // vdso and its like
};

struct FaultPlace {
  PlaceKind kind = PlaceKind::Unknown;
  bool is_private = true;
  StringId file;  // its path
  FileId file_id;
  std::uint64_t file_offset = 0;  // of the address

  bool is_known() const { return kind != PlaceKind::Unknown && kind != PlaceKind::Unmapped; }

  // Private memory without a file behind it.
  bool is_anonymous() const {
    return kind == PlaceKind::Heap || kind == PlaceKind::Stack || kind == PlaceKind::Anonymous;
  }
};

PlaceKind place_kind(AreaKind kind);

// False when the recording does not hold the mappings of data.
bool knows_places(const World& world);

FaultPlace place_of(const World& world, std::uint32_t pid, std::uint64_t address);

}  // namespace memtrace
