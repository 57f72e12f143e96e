// System calls that wait until pages of files are on the disk: fsync(2), sync(2) and their like.
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>

#include "report/report.h"
#include "tracepoints/event/event.h"
#include "views/kit/durations.h"
#include "views/kit/group_by.h"

namespace memtrace {

// fsync writes in the thread that calls it, and makes no event of writeback: what the thread hands
// to block devices until it returns is what it wrote.
class SyncCalls {
 public:
  SyncCalls();

  void on(const Event& event);

  bool any() const { return any_; }

  Table table(const CellContext& context) const;
  void clear();

 private:
  struct Cost {
    Durations durations;
    std::uint64_t count = 0;
    std::uint64_t failed = 0;
    std::uint64_t bytes = 0;
  };

  static std::span<const Figure<Cost>> figures();

  GroupBy<Cost> rows_;
  std::unordered_map<std::uint32_t, std::uint64_t> written_;  // bytes in the call, by tid
  bool any_ = false;
};

// Entries and exits of these calls.
bool is_sync_call(const EventType& type);

}  // namespace memtrace
