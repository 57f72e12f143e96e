// memtrace: who uses memory on this machine, and how. The only place that prints an Error.
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <string>
#include <vector>

#include "cli/command.h"

int main(int argc, char** argv) {
  // A closed pipe is a write error like any other: `memtrace report | head`.
  std::signal(SIGPIPE, SIG_IGN);
  const auto outcome = memtrace::run_command_line({argv + 1, argv + argc});
  if (outcome.ok()) {
    return outcome.value();
  }
  const memtrace::Error& error = outcome.error();
  if (error.errno_value == EPIPE) {
    return 1;
  }
  std::fprintf(stderr, "memtrace: %s\n", memtrace::describe(error).c_str());
  if (!error.hint.empty()) {
    std::fprintf(stderr, "hint: %s\n", error.hint.c_str());
  }
  return error.kind == memtrace::ErrorKind::Usage ? 2 : 1;
}
