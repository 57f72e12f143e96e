// The file that a recording goes to, made anew.
#pragma once

#include <string>

#include "base/result.h"
#include "base/unique_fd.h"

namespace memtrace {

struct OutputFile {
  UniqueFd fd;
  bool replaced_old = false;  // an existing file was renamed to PATH.old
};

// Error: it cannot be made there.
Result<OutputFile> create_output_file(const std::string& path);

}  // namespace memtrace
