// Options and the target's files, before anything is watched.
#pragma once

#include <optional>

#include "cli/options/option_table.h"
#include "perf/event/this_thread.h"

namespace memtrace {

// What busy threads do until they are watched is missing: 0.3 s of reading took over ten beside 200
// of them. A command does not run yet, and would be started in the same hurry.
template <typename Read>
auto read_hurriedly(const ParsedOptions& parsed, Read read) {
  std::optional<HurriedThread> hurried;
  if (parsed.command().empty()) {
    hurried.emplace(Haste::Nice);
  }
  return read();
}

}  // namespace memtrace
