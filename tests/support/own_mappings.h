// The executable mappings of the test program itself, as a recording would have them.
#pragma once

#include <cstdint>
#include <string>

#include "base/text.h"
#include "decode/event_decoder.h"
#include "os/system.h"
#include "perf/target/proc_snapshot.h"

namespace memtrace {

// As those of process `pid`.
inline void apply_own_mappings(EventDecoder& decoder, std::uint32_t pid) {
  const auto maps = read_file("/proc/self/maps");
  const std::string text = maps.ok() ? maps.value() : "";
  for (const std::string_view line : split(text, '\n')) {
    const auto parsed = parse_maps_line(line);
    if (parsed && parsed->executable()) {
      Mmap mapping = record_of(*parsed);
      mapping.pid = pid;
      decoder.apply({.payload = mapping});
    }
  }
}

}  // namespace memtrace
