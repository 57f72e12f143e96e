// Copies a perf.data file whose records are compressed, memtrace's or perf's, to one whose records
// are plain. perf reads COMPRESSED records since Linux 5.2; older ones and many other programs do
// not.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace memtrace {

struct PlainCopy {
  std::uint64_t compressed_bytes = 0;  // of the records in the first file
  std::uint64_t plain_bytes = 0;       // of the same in the second
};

// Reads `from` and makes the file `to`, as OutputFile does. Records, their order, event
// descriptions and features stay as they are. What is behind damaged compressed data is left out:
// an Error says so, and `to` is removed. Errors: `from` is no perf.data file, or a pipe; `to`
// cannot be made or is no regular file; the disk is full.
Result<PlainCopy> make_plain_copy(const std::string& from, const std::string& to);

}  // namespace memtrace
