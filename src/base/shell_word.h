// Text as one word of a shell.
#pragma once

#include <string>

namespace memtrace {

// In quotes only where a shell would understand something else.
std::string shell_word(const std::string& text);

}  // namespace memtrace
