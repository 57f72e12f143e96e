#include "recording/embed_names.h"

#include <algorithm>

namespace memtrace {
namespace {

// The last one is the next to be named: files and addresses in the order in which they were seen.
void list_new(const World& world, EmbeddedNames& names) {
  const StackTable& stacks = world.stacks();
  const auto count = static_cast<std::uint32_t>(stacks.location_count());
  for (; names.listed < count; ++names.listed) {
    const LocationId id{names.listed + 1};
    if (stacks.location(id).module.valid()) {
      names.to_name.push_back(id);
    }
  }
  std::ranges::sort(names.to_name, [&stacks](LocationId a, LocationId b) {
    const ModuleId module_a = stacks.location(a).module;
    const ModuleId module_b = stacks.location(b).module;
    return module_a != module_b ? module_b.value < module_a.value : b.value < a.value;
  });
}

}  // namespace

void embed_names(const World& world,
                 Namer& namer,
                 const std::function<bool()>& is_over,
                 EmbeddedNames& names) {
  while (!is_over()) {
    if (names.to_name.empty()) {  // not before: most calls have time for a few names only
      list_new(world, names);
    }
    if (names.to_name.empty()) {
      break;
    }
    const LocationId id = names.to_name.back();
    const CodeLocation& location = world.stacks().location(id);
    names.symbols.add(
        world.modules().at(location.module), location.lookup_offset(), namer.location(id));
    names.to_name.pop_back();
  }
  names.left_out = names.to_name.size() + world.stacks().location_count() - names.listed;
}

}  // namespace memtrace
