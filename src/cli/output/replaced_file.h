// A file that others may read at any time: they see the old text or the new one, never a part.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace memtrace {

// Writes beside `path` and renames. Readable as umask(2) says. What stands there and is no regular
// file is written to instead: a pipe, a device, and what a symbolic link such as /dev/stdout leads
// to. What belongs to another user than root is left alone. Error: what failed, on which file; the
// old one is as it was.
Result<> replace_file(const std::string& path, std::string_view text);

}  // namespace memtrace
