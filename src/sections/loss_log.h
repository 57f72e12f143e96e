// When events were lost: kept while recording, written with the recording's own facts, and read by
// reports of a part of it. It has few entries, however much is lost: the more losses there are, the
// longer the time that one entry covers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "perf/record/record.h"

namespace memtrace {

struct LossEntry {
  LossReason reason = LossReason::Kernel;
  std::uint64_t first_ns = 0;  // it happened between then
  std::uint64_t last_ns = 0;   // and then
  std::uint64_t count = 0;

  friend bool operator==(const LossEntry&, const LossEntry&) = default;
};

class LossLog {
 public:
  static constexpr std::size_t kMaxEntries = 4096;

  void add(const Record& record, const Lost& lost);

  const std::vector<LossEntry>& entries() const { return entries_; }

 private:
  void add(const LossEntry& entry);
  void coarsen();

  std::vector<LossEntry> entries_;
  std::uint64_t grain_ns_ = 10'000'000;
};

}  // namespace memtrace
