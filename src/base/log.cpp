#include "base/log.h"

#include <cstdio>

namespace memtrace {

void warn(std::string_view message) {
  std::fprintf(
      stderr, "memtrace: warning: %.*s\n", static_cast<int>(message.size()), message.data());
}

void inform(std::string_view message) {
  std::fprintf(stderr, "memtrace: %.*s\n", static_cast<int>(message.size()), message.data());
}

}  // namespace memtrace
