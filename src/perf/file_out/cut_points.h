// Where records begin in a file that was written, coarsely: so that its data can be cut at a record
// without reading all of it again.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"

namespace memtrace {

class DataBlocks {
 public:
  struct Cut {
    std::uint64_t end = 0;  // a record ends here
    std::uint64_t samples_cut = 0;
  };

  // A record begins at this offset of the file.
  void begin(std::uint64_t offset) { blocks_.push_back({offset, 0}); }

  // Adds a record with this number of samples to the block that began last. A COMPRESSED record has
  // a block of its own.
  void count(std::uint64_t samples) { blocks_.back().sample_count += samples; }

  // Forgets what lies behind the last record that ends at or before wanted_end.
  Result<Cut> cut(int fd, std::uint64_t wanted_end);

 private:
  struct Block {
    std::uint64_t offset = 0;
    std::uint64_t sample_count = 0;
  };

  std::vector<Block> blocks_;
};

}  // namespace memtrace
