// Pages made dirty and written back, by file.
#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "report/report.h"
#include "state/world/world.h"
#include "tracepoints/event/event.h"

namespace memtrace {

class WrittenFiles {
 public:
  void on(const Event& event);

  bool any() const { return !files_.empty(); }

  Table table(const World& world) const;

  void clear() { files_.clear(); }

 private:
  struct Cost {
    std::uint64_t dirtied = 0;
    std::uint64_t written = 0;
  };

  std::map<std::pair<StringId, std::uint64_t>, Cost> files_;  // by device and inode
};

}  // namespace memtrace
