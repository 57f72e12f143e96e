#include "views/fault/fault_place.h"

#include <sys/mman.h>

namespace memtrace {

PlaceKind place_kind(AreaKind kind) {
  switch (kind) {
    case AreaKind::File:
      return PlaceKind::File;
    case AreaKind::Heap:
      return PlaceKind::Heap;
    case AreaKind::Stack:
      return PlaceKind::Stack;
    case AreaKind::Anonymous:
      return PlaceKind::Anonymous;
    case AreaKind::SharedMemory:
      return PlaceKind::SharedMemory;
    case AreaKind::HugePages:
      return PlaceKind::Hugetlb;
    case AreaKind::Special:
      break;
  }
  return PlaceKind::Special;
}

bool knows_places(const World& world) {
  return world.tracks_mappings() && world.memory_maps().has_data();
}

FaultPlace place_of(const World& world, std::uint32_t pid, std::uint64_t address) {
  if (!knows_places(world)) {
    return {};
  }
  const auto found = world.find(pid, address);
  if (!found) {
    return {.kind = PlaceKind::Unmapped};
  }
  const MemoryArea& area = found->area;
  FaultPlace place{.kind = place_kind(area.kind), .is_private = (area.flags & MAP_SHARED) == 0};
  // "[heap]" and "//anon" say what the kind says.
  if (world.strings().at(area.path).starts_with('/') && area.has_offset()) {
    place.file = area.path;
    place.file_offset = found->file_offset;
    place.file_id = {area.major, area.minor, area.inode};
  }
  return place;
}

}  // namespace memtrace
