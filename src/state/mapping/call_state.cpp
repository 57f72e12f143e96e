#include "state/mapping/call_state.h"

namespace memtrace {

void CallState::announce(const MemoryMaps::Record& record) {
  if (options_.track_mappings) {
    memory_maps_.announce(record);
  }
}

void CallState::enter(const Event& event, const SystemCallEntry& entry) {
  system_calls_.enter(
      event.tid,
      {.entry = entry, .time_ns = event.time_ns, .weight = event.weight, .stack = event.stack});
  if (options_.track_mappings) {
    memory_maps_.begin({.pid = event.pid, .tid = event.tid, .time_ns = event.time_ns}, entry);
  }
}

std::optional<Map> CallState::leave(Event& event, const SystemCallExit& ended) {
  const auto begun = system_calls_.leave(event.tid, ended.call);
  if (!begun) {
    return std::nullopt;
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
  if (map && options_.track_kernel_memory) {
    kernel_memory_.apply(event.pid, *map);
  }
  return map;
}

void CallState::note_touches(const Event& event, bool counts) {
  if (options_.track_first_touches) {
    first_touches_.apply(event, memory_maps_, counts);
  }
}

void CallState::fork(std::uint32_t parent_pid, std::uint32_t pid, std::uint32_t tid) {
  system_calls_.forget(tid);  // a former life's
  if (pid == parent_pid) {
    return;
  }
  if (options_.track_mappings) {
    memory_maps_.fork(parent_pid, pid);
  }
  if (options_.track_kernel_memory) {
    kernel_memory_.forget(pid);
  }
  if (options_.track_first_touches) {
    first_touches_.fork(parent_pid, pid);
  }
}

void CallState::exec(std::uint32_t pid) {
  kernel_memory_.forget(pid);
  if (options_.track_mappings) {
    memory_maps_.exec(pid);
  }
  if (options_.track_first_touches) {
    first_touches_.exec(pid);
  }
  system_calls_.forget(pid);  // another thread that called execve(2) has this id now
}

void CallState::exit(std::uint32_t pid, std::uint32_t tid) {
  system_calls_.forget(tid);
  memory_maps_.exit(pid, tid);
  first_touches_.exit(pid, tid);
}

void CallState::forget_calls() {
  system_calls_.clear();
  memory_maps_.forget_calls();
}

}  // namespace memtrace
