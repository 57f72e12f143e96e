// What a recording would ask of the kernel, in words: `memtrace record --dry-run`.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "recording/recorder.h"

namespace memtrace {

// `selected` was chosen with plan_only; `views` are those that the recording is for. Opens events
// on this very task to see what is missing, and changes nothing.
Result<std::string> describe_plan(const RecordOptions& options, std::span<const std::string> views);

}  // namespace memtrace
