#include "pipeline/user_stacks.h"

#include <algorithm>

namespace memtrace {

bool UserStacks::follows_frame_pointers(std::span<const std::uint64_t> chain) {
  return std::find(chain.begin(), chain.end(), kContextUser) != chain.end();
}

}  // namespace memtrace
