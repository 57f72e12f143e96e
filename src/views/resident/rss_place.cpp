#include "views/resident/rss_place.h"

#include "state/world/resident_snapshot.h"

namespace memtrace {

RssPlace rss_place(const World& world, std::uint32_t pid, std::uint64_t address) {
  using Kind = RssPlace::Kind;
  const auto found = world.find(pid, address);
  if (!found) {
    return {};
  }
  switch (found->area.kind) {
    case AreaKind::Heap:
      return {.kind = Kind::Heap};
    case AreaKind::Stack:
      return {.kind = Kind::Stack};
    case AreaKind::Anonymous:
      return {.kind = Kind::Anonymous};
    default:
      return {.kind = Kind::Named, .path = found->area.path};
  }
}

std::string name_of(const RssPlace& place, const World& world) {
  switch (place.kind) {
    case RssPlace::Kind::Unknown:
      return "(not known)";
    case RssPlace::Kind::Whole:
      return "(whole process)";
    case RssPlace::Kind::Heap:
      return "[heap]";
    case RssPlace::Kind::Stack:
      return "[stack]";
    case RssPlace::Kind::Anonymous:
      return "[anon]";
    case RssPlace::Kind::Named:
      break;
  }
  return std::string(mapping_name(place.path.valid() ? world.strings().at(place.path) : ""));
}

}  // namespace memtrace
