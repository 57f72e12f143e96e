// A sample as it goes into the file: with its repaired callchain, and without the registers and
// stack bytes that the repair used up.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "perf/record.h"

namespace memtrace {

class SampleRewriter {
 public:
  // The whole new record; valid until the next call. `sample` was parsed from `record`. The layout
  // is memtrace's own (perf/event_attr.h): REGS_USER and STACK_USER come last, so what is left out
  // is the record's tail.
  std::span<const std::byte> rewrite(std::span<const std::byte> record,
                                     const Sample& sample,
                                     std::span<const std::uint64_t> callchain);

 private:
  std::vector<std::byte> bytes_;
};

}  // namespace memtrace
