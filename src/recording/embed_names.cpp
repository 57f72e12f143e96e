#include "recording/embed_names.h"

#include <cstdint>

namespace memtrace {

EmbeddedNames embed_names(const World& world, Namer& namer, const std::function<bool()>& is_over) {
  EmbeddedNames names;
  bool over = false;
  for (std::uint32_t i = 1; i <= world.stacks().location_count(); ++i) {
    const CodeLocation& location = world.stacks().location(LocationId{i});
    if (!location.module.valid()) {
      continue;
    }
    over = over || is_over();
    if (over) {
      ++names.left_out;
      continue;
    }
    names.symbols.add(world.modules().at(location.module),
                      location.lookup_offset(),
                      namer.location(LocationId{i}));
  }
  return names;
}

}  // namespace memtrace
