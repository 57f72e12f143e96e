// The losses of a file, each of them once.
#pragma once

#include <cstdint>
#include <optional>

#include "perf/record/record.h"

namespace memtrace {

class FileLosses {
 public:
  // Samples that came too late for their place, of `late_count` those that were not told yet, as a
  // record of this time.
  std::optional<Record> next_late(std::uint64_t late_count, std::uint64_t time_ns);

  // A record of losses as it is in the file: it keeps what no record before it has reported.
  void count_once(Record& record);

 private:
  std::uint64_t late_told_ = 0;
  std::uint64_t lost_count_ = 0;  // from LOST records
};

}  // namespace memtrace
