// memtrace version: which memtrace this is, and what it was built of.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace memtrace {

// `words` are those behind "version": none, or --build.
Result<int> print_version(const std::vector<std::string>& words);

}  // namespace memtrace
