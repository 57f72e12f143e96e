// The fixed parts of a perf.data file: header, event attrs with their ids, feature sections. All of
// it may be cut or wrong; what is not there becomes a caveat.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/result.h"
#include "perf/file_in/recording_builder.h"
#include "perf/record/perf_format.h"

namespace memtrace {

// Where the records lie.
struct DataRange {
  std::uint64_t offset = 0;
  std::uint64_t end = 0;
};

// Whether these are the first bytes of a perf.data file or pipe that memtrace can read. Each Error
// says what the file is instead.
Result<> check_magic(std::span<const std::byte> start, const std::string& path);

// Reads a whole file's head and features into the builder. Error: no event description is left.
Result<DataRange> read_file_head(std::span<const std::byte> file,
                                 const std::string& path,
                                 RecordingBuilder& builder);

}  // namespace memtrace
