#include "views/heap/caller_key.h"

#include <array>

#include "views/kit/cells.h"

namespace memtrace {
namespace {

// Names are asked for at the end only, stack by stack: until then the word is the stack.
constexpr auto kCallerKey = std::to_array<KeySpec>({
    {.name = "caller",
     .unit = Unit::Text,
     .of = [](const Event& event) { return std::uint64_t{event.stack.id().value}; },
     .of_block = [](const LiveBlock& block) { return std::uint64_t{block.stack.value}; },
     .cell =
         [](std::uint64_t word, const CellContext&) {
           return unless_invalid(LocationId{static_cast<std::uint32_t>(word)});
         }},
});

// The innermost frame is the allocator. Where all others pass the wish on, the first of them is as
// good as any.
std::uint64_t caller_in(const std::vector<LocationId>& frames,
                        const std::function<bool(LocationId)>& is_wrapper) {
  for (std::size_t i = 1; i < frames.size(); ++i) {
    if (!is_wrapper || !is_wrapper(frames[i])) {
      return frames[i].value;
    }
  }
  return frames.size() > 1 ? frames[1].value : 0;
}

}  // namespace

Result<KeySet> choose_heap_keys(const ViewOptions& options,
                                std::span<const std::string_view> names) {
  auto keys = KeySet::choose(options, names, kCallerKey);
  if (keys.ok()) {
    keys.value().resolve_with("caller",
                              [is_wrapper = options.is_allocation_wrapper](
                                  std::uint64_t word, const CellContext& context) {
                                const StackId stack{static_cast<std::uint32_t>(word)};
                                return caller_in(context.world.stacks().locations(stack),
                                                 is_wrapper);
                              });
  }
  return keys;
}

}  // namespace memtrace
