// memtrace oom --past: the kills that the kernel's log still has.
#pragma once

#include "base/result.h"
#include "cli/command.h"
#include "cli/options/option_table.h"

namespace memtrace {

// Reads the files named, or the journal, or else the kernel's own log. Error: none can be read.
Result<ExitStatus> print_past_kills(const ParsedOptions& parsed);

}  // namespace memtrace
