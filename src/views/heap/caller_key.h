// The key caller of the heap's views: who wanted the memory, and no function that only passed the
// wish on.
#pragma once

#include <span>
#include <string_view>

#include "base/result.h"
#include "views/kit/keys.h"

namespace memtrace {

// As KeySet::choose.
Result<KeySet> choose_heap_keys(const ViewOptions& options,
                                std::span<const std::string_view> names);

}  // namespace memtrace
