// Names of code that a JIT compiler wrote: /tmp/perf-PID.map, one "START SIZE name" a line, in hex.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/interval_map.h"

namespace memtrace {

class PerfMap {
 public:
  struct Match {
    std::string_view function;
    std::uint64_t offset = 0;
  };

  // Lines that are not entries are skipped. A later entry replaces what it covers, as code does
  // that is compiled again into the same place.
  static PerfMap parse(std::string_view text);

  std::optional<Match> find(std::uint64_t avma) const;

 private:
  struct Function {
    std::uint64_t start = 0;  // the entry's own: the interval may have been cut
    std::string name;
  };

  void add_line(std::string_view line);

  IntervalMap<Function> functions_;
};

// The maps of one process. The file grows while the program runs, so a miss looks whether it did.
class PerfMapFile {
 public:
  explicit PerfMapFile(std::uint32_t pid);

  std::optional<PerfMap::Match> find(std::uint64_t avma);

 private:
  bool reload_if_changed();

  std::string path_;
  std::int64_t size_bytes_ = -1;
  PerfMap map_;
};

}  // namespace memtrace
