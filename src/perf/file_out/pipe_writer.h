// perf's pipe mode: what a file has in its header and sections goes as records.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "os/unique_fd.h"
#include "perf/file_out/file_writer.h"

namespace memtrace {

// `name` is for messages.
Result<std::unique_ptr<FileWriter>> create_pipe_writer(UniqueFd fd,
                                                       std::string name,
                                                       const WriterSetup& setup);

}  // namespace memtrace
