// The world's part in address spaces: entries and exits of system calls become changes.
#include "state/world.h"

namespace memtrace {

void World::apply_map_return(Event& event, const MapReturn& ended) {
  const auto pending = map_calls_.find(event.tid);
  if (pending == map_calls_.end()) {
    return;
  }
  const MapCall call = pending->second;
  map_calls_.erase(pending);
  const bool succeeded = call.op == ended.op && ended.result >= 0;
  if (!succeeded) {
    return;
  }
  const Map map{.call = call, .result = static_cast<std::uint64_t>(ended.result)};
  event.payload = map;
  if (options_.track_live_blocks) {
    kernel_memory_.apply(event.pid, map);
  }
}

}  // namespace memtrace
