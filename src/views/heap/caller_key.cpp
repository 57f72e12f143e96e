#include "views/heap/caller_key.h"

#include <array>

namespace memtrace {
namespace {

// The innermost frame is the allocator. Where all others pass the wish on, the first of them is as
// good as any.
std::uint64_t caller_in(std::span<const LocationId> frames,
                        const std::function<bool(LocationId)>& is_wrapper) {
  if (frames.size() < 2) {
    return 0;
  }
  const std::uint64_t caller = first_caller(frames.subspan(1), is_wrapper);
  return caller != 0 ? caller : frames[1].value;
}

}  // namespace

Result<KeySet> choose_heap_keys(const ViewOptions& options,
                                std::span<const std::string_view> names) {
  const std::array own = {caller_by_name_key};
  auto keys = KeySet::choose(options, names, own);
  if (keys.ok()) {
    keys.value().resolve_with(
        "caller",
        [is_wrapper = options.is_allocation_wrapper, function_of = options.function_of](
            std::uint64_t word, const CellContext& context) {
          const StackId stack{static_cast<std::uint32_t>(word)};
          const std::uint64_t caller =
              caller_in(context.world.stacks().locations(stack), is_wrapper);
          return caller == 0 || !function_of
                     ? caller
                     : function_of(LocationId{static_cast<std::uint32_t>(caller)}).value;
        });
  }
  return keys;
}

}  // namespace memtrace
