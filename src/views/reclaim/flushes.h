// What flusher threads write back, by why they do it.
#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>

#include "report/report.h"
#include "tracepoints/event/event.h"
#include "views/kit/durations.h"
#include "views/reclaim/work_keys.h"

namespace memtrace {

// A flusher's thread writes in rounds, each for one reason; what it writes of inodes in between
// belongs to the round.
//
//   writeback_start{reason=periodic}   single_inode{wrote=9}  ...   writeback_written
class Flushes {
 public:
  void on(const Event& event);

  bool any() const { return !reasons_.empty(); }

  Table table() const;

  // What has begun stays.
  void clear() { reasons_.clear(); }

 private:
  struct Reason {
    Durations durations;
    std::uint64_t rounds = 0;
    std::uint64_t written = 0;
  };

  struct Round {
    std::int32_t reason = -1;
    std::uint64_t begun_ns = 0;
    std::uint64_t written = 0;
  };

  void on_round(const Event& event, const FlushRound& round);

  std::map<std::int32_t, Reason> reasons_;
  std::unordered_map<std::uint32_t, Round> open_;  // by tid
  FieldNames names_{"writeback:", {"reason"}};
};

}  // namespace memtrace
