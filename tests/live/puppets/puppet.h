// What the puppets share: reading their one number, and giving up with a sentence.
#pragma once

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

[[noreturn]] inline void give_up(const char* what, long error) {
  std::fprintf(stderr, "puppet: %s: %s\n", what, std::strerror(static_cast<int>(error)));
  std::exit(1);
}

// `result` is what a system call returned: -errno on failure.
inline long checked(long result, const char* what) {
  if (result < 0) {
    give_up(what, -result);
  }
  return result;
}

inline long count_argument(int argc, char** argv, int index) {
  char* end = nullptr;
  const long count = index < argc ? std::strtol(argv[index], &end, 10) : -1;
  if (count < 0 || *end != '\0') {
    std::fprintf(stderr, "usage: %s COUNT\n", argv[0]);
    std::exit(2);
  }
  return count;
}
