// A perf.data file or a pipe of one as RecordSource: memtrace's own files and those of perf record
// 4.x to 6.x, also -z and pipe mode. Format: tools/perf/Documentation/perf.data-file-format.txt.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "perf/record/record_source.h"

namespace memtrace {

// Whether the records of a regular file are read ahead by a thread, if there is a CPU for it.
enum class ReadAhead : std::uint8_t { No, IfCpus };

// "-" is standard input. A file that was cut short is read as far as it is whole, with a sentence
// in recording().caveats. Errors, each with a hint: not there, not readable, empty, not a perf.data
// file, made on a big-endian machine, cut before its first event description.
Result<std::unique_ptr<RecordSource>> open_file_source(const std::string& path,
                                                       ReadAhead ahead = ReadAhead::No);

}  // namespace memtrace
