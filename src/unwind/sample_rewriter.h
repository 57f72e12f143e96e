// A sample as it goes into the file: with its repaired callchain, and without the registers and
// stack bytes that the repair used up.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "perf/record/record.h"

namespace memtrace {

class SampleRewriter {
 public:
  // The whole new record; valid until the next call. `sample` was parsed from `record`. The layout
  // is memtrace's own (perf/event/event_attr.h): REGS_USER and STACK_USER come last, so what is
  // left out is the record's tail.
  std::span<const std::byte> rewrite(std::span<const std::byte> record,
                                     const Sample& sample,
                                     std::span<const std::uint64_t> callchain);

  // The same with the names of a probe that shares the kernel's event with others: its own id, and
  // its own number of a tracepoint in the raw data. `bytes` is of the sample, or a rewritten one.
  struct OwnNames {
    std::uint64_t id = 0;
    std::uint16_t tracepoint = 0;
  };

  std::span<const std::byte> rename(std::span<const std::byte> bytes,
                                    const Sample& sample,
                                    OwnNames names);

 private:
  std::vector<std::byte> bytes_;
};

}  // namespace memtrace
