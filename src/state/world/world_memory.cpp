// The world's part in address spaces: entries and exits of system calls become whole calls, and
// those become changes.
#include "state/world/world.h"

namespace memtrace {

void World::announce(const MemoryMaps::Record& record) {
  if (options_.track_mappings) {
    memory_maps_.announce(record);
  }
}

std::optional<World::FoundArea> World::find(std::uint32_t pid, std::uint64_t avma) const {
  const MemoryMap::Entry* entry = memory_maps_.find(pid, avma);
  if (entry == nullptr) {
    return std::nullopt;
  }
  return FoundArea{
      .area = entry->value,
      .start = entry->start,
      .limit = entry->limit,
      .file_offset = entry->value.has_offset() ? avma + entry->value.offset_minus_avma : 0};
}

void World::apply_call_entry(const Event& event, const SystemCallEntry& entry) {
  system_calls_.enter(
      event.tid,
      {.entry = entry, .time_ns = event.time_ns, .weight = event.weight, .stack = event.stack});
  if (options_.track_mappings) {
    memory_maps_.begin({.pid = event.pid, .tid = event.tid, .time_ns = event.time_ns}, entry);
  }
}

void World::apply_call_exit(Event& event, const SystemCallExit& ended) {
  const auto begun = system_calls_.leave(event.tid, ended.call);
  if (!begun) {
    return;
  }
  const SystemCallDone done{.call = ended.call,
                            .arguments = begun->entry.arguments,
                            .result = ended.result,
                            .duration_ns = event.time_ns - begun->time_ns};
  event.payload = done;
  event.stack = begun->stack;
  event.weight = begun->weight;
  if (options_.track_mappings) {
    memory_maps_.end({.pid = event.pid, .tid = event.tid, .time_ns = event.time_ns}, done);
  }
  const auto map = map_of(done);
  if (map && options_.track_live_blocks) {
    kernel_memory_.apply(event.pid, *map);
  }
  if (map && options_.track_heap_mappings) {
    apply_heap_mapping(event, *map);
  }
}

}  // namespace memtrace
