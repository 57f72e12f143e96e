#include "base/log.h"

#include <cstdio>

#include "base/visible.h"

namespace memtrace {

void warn(std::string_view message) {
  std::fprintf(stderr, "memtrace: warning: %s\n", visible_lines(message).c_str());
}

void inform(std::string_view message) {
  std::fprintf(stderr, "memtrace: %s\n", visible_lines(message).c_str());
}

}  // namespace memtrace
