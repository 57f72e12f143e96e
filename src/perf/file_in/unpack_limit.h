// How much of a round of compressed records is held before it is given out: a few bytes may unpack
// to a great many records.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "perf/file_in/record_sorter.h"

namespace memtrace {

class UnpackLimit {
 public:
  void add_packed(std::size_t size_bytes) { packed_bytes_ += size_bytes; }

  // A record that is held. True: there are enough for now, and a new round begins.
  bool add_record(std::size_t size_bytes) {
    // While rounds are merged an entry stands in two lists, each with room to grow.
    held_bytes_ += size_bytes + 4 * sizeof(RecordSorter::Entry);
    if (held_bytes_ <= std::min(kMaxBytes, kAlwaysBytes + packed_bytes_ * kRatio)) {
      return false;
    }
    begin_round();
    return true;
  }

  void begin_round() {
    packed_bytes_ = 0;
    held_bytes_ = 0;
  }

 private:
  // A round of perf or memtrace is what the rings of all CPUs hold. Large stacks that are all alike
  // pack to a five hundredth, other records to a tenth.
  static constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 30U;
  static constexpr std::uint64_t kAlwaysBytes = std::uint64_t{32} << 20U;
  static constexpr std::uint64_t kRatio = 1000;

  std::uint64_t packed_bytes_ = 0;
  std::uint64_t held_bytes_ = 0;
};

}  // namespace memtrace
