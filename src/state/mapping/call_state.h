// Entries and exits of system calls become whole calls, and those change the table of mappings.
#pragma once

#include <cstdint>
#include <optional>

#include "state/mapping/anonymous_memory.h"
#include "state/mapping/first_touches.h"
#include "state/mapping/map_call.h"
#include "state/mapping/memory_maps.h"
#include "state/mapping/system_calls.h"
#include "tracepoints/event/event.h"

namespace memtrace {

class CallState {
 public:
  struct Options {
    bool track_mappings = false;       // the table of all mappings
    bool track_kernel_memory = false;  // what programs took from the kernel
    bool track_first_touches = false;  // which code touched each page first
    std::uint64_t page_size_bytes = 4096;
  };

  explicit CallState(const Options& options)
      : options_(options),
        memory_maps_(options.page_size_bytes),
        first_touches_(options.page_size_bytes) {}

  const MemoryMaps& memory_maps() const { return memory_maps_; }

  const KernelMemory& kernel_memory() const { return kernel_memory_; }

  const FirstTouches& first_touches() const { return first_touches_; }

  void announce(const MemoryMaps::Record& record);

  void enter(const Event& event, const SystemCallEntry& entry);

  // The event becomes that of the whole call, with the stack of its entry. The result is what the
  // call mapped or unmapped.
  std::optional<Map> leave(Event& event, const SystemCallExit& ended);

  // Of any event, once the mappings are as it has changed them.
  void note_touches(const Event& event, bool counts);

  void fork(std::uint32_t parent_pid, std::uint32_t pid, std::uint32_t tid);
  void exec(std::uint32_t pid);
  void exit(std::uint32_t pid, std::uint32_t tid);

  // Events are missing: calls that have begun may have returned.
  void forget_calls();

 private:
  Options options_;
  SystemCalls system_calls_;
  MemoryMaps memory_maps_;
  KernelMemory kernel_memory_;
  FirstTouches first_touches_;
};

}  // namespace memtrace
