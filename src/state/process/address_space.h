// The mappings of one process as of now: an address to the file and offset behind it.
#pragma once

#include <cstdint>
#include <optional>

#include "base/interval_map.h"
#include "symbolize/elf/code_location.h"

namespace memtrace {

class AddressSpace {
 public:
  struct Region {
    ModuleId module;
    // What to add to an AVMA to get the CodeLocation's offset; kept instead of the start so that a
    // region cut in two stays right.
    std::uint64_t offset_minus_avma = 0;
  };

  struct Range {
    std::uint64_t start = 0;
    std::uint64_t limit = 0;
  };

  void map(Range range, Region region);
  void clear();

  // module none for an address outside of every mapping.
  CodeLocation locate(std::uint64_t avma, bool is_return_address) const;

  // Grows whenever an address that was in a mapping may have come to mean something else. What was
  // in none may be in one now while this stays the same.
  std::uint64_t generation() const { return generation_; }

 private:
  IntervalMap<Region> regions_;
  std::uint64_t generation_ = 0;
};

}  // namespace memtrace
