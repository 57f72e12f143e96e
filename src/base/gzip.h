// gzip: files that the kernel or others have compressed, and those for others.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace memtrace {

// What such a file holds. Error: it is none, ends too early, or is larger than anybody means it to
// be.
Result<std::string> gunzip(std::string_view compressed);

// The same bytes for the same text: the header has no time and no name.
std::string gzip(std::string_view text);

}  // namespace memtrace
