#include "base/log.h"

#include <cstdio>
#include <mutex>

#include "base/visible.h"

namespace memtrace {
namespace {

// ECMA-48: to the first column, and erase up to the end of the line.
constexpr const char* kEraseLine = "\r\x1b[K";

std::mutex& lock() {
  static std::mutex mutex;
  return mutex;
}

bool has_status = false;

void print(const char* start, std::string_view message) {
  const std::lock_guard guard(lock());
  std::fprintf(stderr,
               "%smemtrace: %s%s\n",
               has_status ? kEraseLine : "",
               start,
               visible_lines(message).c_str());
  has_status = false;
}

}  // namespace

void warn(std::string_view message) {
  print("warning: ", message);
}

void inform(std::string_view message) {
  print("", message);
}

void show_status(std::string_view line) {
  const std::lock_guard guard(lock());
  if (has_status || !line.empty()) {
    std::fprintf(stderr, "%s%s", kEraseLine, visible_lines(line).c_str());
    std::fflush(stderr);
  }
  has_status = !line.empty();
}

}  // namespace memtrace
