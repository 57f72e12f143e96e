#include "recording/embed_names.h"

namespace memtrace {

void embed_names(const World& world,
                 Namer& namer,
                 const std::function<bool()>& is_over,
                 EmbeddedNames& names) {
  names.left_out = 0;
  for (std::uint32_t i = names.named + 1; i <= world.stacks().location_count(); ++i) {
    const CodeLocation& location = world.stacks().location(LocationId{i});
    const bool has_name = location.module.valid();
    if (has_name && (names.left_out > 0 || is_over())) {
      ++names.left_out;
      continue;
    }
    if (has_name) {
      names.symbols.add(world.modules().at(location.module),
                        location.lookup_offset(),
                        namer.location(LocationId{i}));
    }
    names.named = names.left_out == 0 ? i : names.named;
  }
}

}  // namespace memtrace
