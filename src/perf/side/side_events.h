// Tracepoints that are read beside a recording and do not become a part of it: few and rare, of the
// whole machine, in small rings of their own, emptied when somebody asks. Their records have the
// same clock as those of the recording.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "perf/event/event_attr.h"
#include "perf/event/event_fd.h"
#include "perf/event/ring_buffer.h"
#include "perf/record/record_parser.h"

namespace memtrace {

struct SideSample {
  std::uint64_t time_ns = 0;
  std::size_t event = 0;  // its place among those that were asked for
  std::vector<std::byte> raw;
};

class SideEvents {
 public:
  // They are enabled when this returns. Events that cannot be opened on each CPU are left out.
  static SideEvents open(const std::vector<EventRequest>& requests);

  // Whether this one of those that were asked for is there.
  bool has(std::size_t event) const { return is_open_[event]; }

  struct Taken {
    std::vector<SideSample> samples;  // by time
    bool lost = false;                // a ring was full
  };

  // What has come since the last call.
  Taken take();

 private:
  explicit SideEvents(std::size_t count) : is_open_(count, false) {}

  Result<> open_event(const EventRequest& request, const AttrFeatures& features, std::size_t event);
  void drain(RingBuffer& ring, Taken& taken) const;

  // One for each CPU, that of the first event which is there.
  struct Owner {
    int cpu = -1;
    int fd = -1;
  };

  std::vector<bool> is_open_;
  std::vector<Owner> owners_;
  std::vector<EventFd> fds_;
  std::vector<RingBuffer> rings_;
  RecordParser parser_;
  std::vector<std::size_t> numbers_;  // SideSample::event by the parser's number
};

}  // namespace memtrace
