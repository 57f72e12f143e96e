// A time in which events were watched that cost too much to be watched all the time.
#pragma once

#include <cstdint>

namespace memtrace {

struct WatchedWindow {
  std::uint64_t from_ns = 0;  // by the records' clock
  std::uint64_t length_ns = 0;
  std::uint64_t share = 1;  // slots in a cycle: what was recorded here counts `share` times

  friend bool operator==(const WatchedWindow&, const WatchedWindow&) = default;
};

}  // namespace memtrace
