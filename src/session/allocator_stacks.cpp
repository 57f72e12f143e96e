#include "session/allocator_stacks.h"

#include <algorithm>
#include <array>

#include "tracepoints/probe/heap_functions.h"

namespace memtrace {

// C++'s operators are not among them: a program's own may map memory where no allocator is.
AllocatorStacks::AllocatorStacks() {
  const auto add = [this](std::string_view prefix, const HeapFunction& function) {
    if (!function.is_operator) {
      functions_.insert(std::string(prefix).append(function.name));
    }
  };
  for (const std::string_view prefix : heap_prefixes()) {
    for (const HeapFunction& function : heap_functions()) {
      add(prefix, function);
    }
  }
}

void AllocatorStacks::learn(const std::deque<EventType>& types) {
  for (; learnt_ < types.size(); ++learnt_) {
    if (!types[learnt_].heap_function.empty()) {
      functions_.insert(types[learnt_].heap_function);
    }
  }
}

// Libraries that are nothing else map memory in their constructors, too.
bool AllocatorStacks::is_allocator(const Frame& frame) const {
  constexpr auto kLibraries =
      std::to_array<std::string_view>({"libjemalloc.", "libtcmalloc", "libmimalloc"});
  return functions_.contains(frame.function) ||
         std::ranges::any_of(kLibraries, [&frame](std::string_view name) {
           return frame.module.starts_with(name);
         });
}

bool AllocatorStacks::contains(StackId stack, Namer& namer) {
  const auto [found, is_new] = known_.try_emplace(stack);
  if (is_new) {
    found->second = std::ranges::any_of(namer.stack(stack),
                                        [this](const Frame& frame) { return is_allocator(frame); });
  }
  return found->second;
}

}  // namespace memtrace
