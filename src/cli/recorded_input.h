// Recordings by the names that a user gives them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "perf/record/record_source.h"

namespace memtrace {

// The name of a rotated recording means all of its files.
std::vector<std::string> recorded_files(const std::vector<std::string>& names);

// One file, or several as one recording; "-" reads a pipe.
Result<std::unique_ptr<RecordSource>> open_recording(const std::vector<std::string>& paths);

}  // namespace memtrace
