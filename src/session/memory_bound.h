// Where the tables of a report stop growing, whatever a recording holds: what comes after that is
// left out, as --until would do.
#pragma once

#include <cstdint>
#include <string>

#include "base/units.h"
#include "os/own/own_memory.h"

namespace memtrace {

class MemoryBound {
 public:
  // 0: none. `measure` says how much memory the process has.
  explicit MemoryBound(std::uint64_t bytes, std::uint64_t (*measure)() = own_memory_bytes)
      : bytes_(bytes), measure_(measure) {}

  // Asked before each record that the report could end at. True when the bound is reached now, and
  // never again.
  bool reached() {
    constexpr std::uint32_t kRecordsBetween = 4096;  // which fill two megabytes, seldom more
    if (bytes_ == 0 || was_reached_ || ++records_ % kRecordsBetween != 0) {
      return false;
    }
    was_reached_ = measure_() >= bytes_;
    return was_reached_;
  }

  bool was_reached() const { return was_reached_; }

  // A sample that came after that.
  void leave_out() { left_out_ += was_reached_ ? 1 : 0; }

  // `shown_ns`: the length of the part that the report is about.
  std::string note(std::uint64_t shown_ns) const {
    return "memory is short: the tables reached " + print_bytes(bytes_) + " (--max-memory) after " +
           print_duration(shown_ns) + ", and the report ends there; " +
           counted(left_out_, "later event was", "later events were") +
           " left out; one view, --since, --until or --pid needs less";
  }

 private:
  std::uint64_t bytes_;
  std::uint64_t (*measure_)();
  std::uint32_t records_ = 0;
  bool was_reached_ = false;
  std::uint64_t left_out_ = 0;
};

}  // namespace memtrace
