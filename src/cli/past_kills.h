// memtrace oom --past and failures --past: what the kernel's log still has.
#pragma once

#include "base/result.h"
#include "cli/command.h"
#include "cli/options/option_table.h"

namespace memtrace {

// They read the files named, or the journal, or else the kernel's own log. Error: none can be read.
Result<ExitStatus> print_past_kills(const ParsedOptions& parsed);
Result<ExitStatus> print_past_failures(const ParsedOptions& parsed);

}  // namespace memtrace
