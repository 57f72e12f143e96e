// Whole system calls, and records of mappings, for EventScript.
#pragma once

#include <string>
#include <vector>

#include "support/event_script.h"

namespace memtrace::test {

// When and by whom; the call ends at at_ns.
struct CallAt {
  std::uint64_t at_ns = 1000;
  std::uint64_t took_ns = 10;
  std::uint32_t tid = 0;
  std::uint32_t stack = 1;
  std::uint32_t pid = 100;
};

inline std::vector<Step> system_call(const std::string& name,
                                     const SystemCallEntry& entry,
                                     std::int64_t result,
                                     const CallAt& when = {}) {
  return {{.event = "syscalls:sys_enter_" + name,
           .payload = entry,
           .at_ns = when.at_ns - when.took_ns,
           .pid = when.pid,
           .tid = when.tid,
           .stack = when.stack},
          {.event = "syscalls:sys_exit_" + name,
           .payload = SystemCallExit{.call = entry.call, .result = result},
           .at_ns = when.at_ns,
           .pid = when.pid,
           .tid = when.tid,
           .stack = 0}};
}

// A record of a mapping, as the kernel writes it.
struct NewArea {
  std::uint64_t start = 0;
  std::uint64_t bytes = 0;
  std::string path = "//anon";
  std::uint64_t file_offset = 0;
  std::uint32_t flags = 2;
  std::uint64_t inode = 0;
  std::uint32_t pid = 100;
};

inline void announce(EventScript& script, const NewArea& area) {
  World& world = script.world();
  const bool has_path = area.path != "//anon";
  world.announce({.pid = area.pid,
                  .tid = area.pid,
                  .range = {area.start, area.start + area.bytes},
                  .file_offset = area.file_offset,
                  .area = {.kind = area_kind(area.path, area.flags),
                           .path = has_path ? world.strings().intern(area.path) : StringId{},
                           .inode = area.inode,
                           .protection = 3,
                           .flags = area.flags}});
}

// A call, and the record that the kernel writes during it.
inline void play_mapping(EventScript& script, const std::vector<Step>& call, const NewArea& area) {
  script.play(call.front());
  announce(script, area);
  script.play(call.back());
}

}  // namespace memtrace::test
