// Files that the kernel or others have compressed with gzip.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace memtrace {

// What such a file holds. Error: it is none, ends too early, or is larger than anybody means it to
// be.
Result<std::string> gunzip(std::string_view compressed);

}  // namespace memtrace
