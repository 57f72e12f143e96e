// Tells of executable files as soon as a watched task maps them. The records that the others rings
// hold as well come to be seen when their ring is drained, up to a tenth of a second later: too
// late for who wants to put probes on a library before it is used. So these have small rings of
// their own, which wake their reader at every record.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "os/unique_fd.h"
#include "perf/event/event_attr.h"
#include "perf/event/event_fd.h"
#include "perf/event/ring_buffer.h"
#include "perf/record/record_parser.h"

namespace memtrace {

struct NewMapping {
  std::uint64_t time_ns = 0;  // CLOCK_MONOTONIC, 0: not known
  std::uint32_t pid = 0;
  std::uint64_t start = 0, end = 0;
  std::uint32_t major = 0, minor = 0;
  std::uint64_t inode = 0;  // 0: not known
  std::string path;         // as its process knows it

  static NewMapping of(const Record& record, const Mmap& mmap);
};

class MappingWatch {
 public:
  struct Setup {
    std::vector<std::int32_t> tids;  // {-1}: the whole machine
    bool inherit = false;
    bool enable_on_exec = false;
    AttrFeatures features;
  };

  static Result<MappingWatch> open(const Setup& setup);

  Result<> enable() const;

  // Waits for mappings, or for interrupt().
  void wait(std::chrono::milliseconds patience) const;
  void interrupt() const;

  // What has come, in no order of times; those without a file are left out.
  std::vector<NewMapping> take();

  // Records that found their ring full, according to LOST records.
  std::uint64_t lost() const { return lost_; }

 private:
  MappingWatch() = default;

  Result<> open_cpu(const Setup& setup, std::int32_t cpu);
  Result<> add_ring(const EventFd& owner);
  void take_from(RingBuffer& ring, std::vector<NewMapping>& taken);

  perf_event_attr attr_{};
  RecordParser parser_;
  std::vector<EventFd> fds_;
  std::vector<RingBuffer> rings_;
  std::vector<int> ring_fds_;
  UniqueFd interrupt_;
  bool has_clock_ = true;  // records are stamped with CLOCK_MONOTONIC
  std::uint64_t lost_ = 0;
};

}  // namespace memtrace
