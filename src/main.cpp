// memtrace: who uses memory on this machine, and how. The only place that prints an Error.
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/visible.h"
#include "cli/command.h"
#include "os/guarded_thread.h"

namespace {

using memtrace::Error;

// The standard library throws, when there is no more memory above all. On the way here everything
// is taken back: probes, threads, the traced command.
memtrace::Result<memtrace::ExitStatus> run(int argc, char** argv) {
  try {
    memtrace::keep_reserve();
    auto outcome = memtrace::run_command_line({argv + 1, argv + argc});
    if (outcome.ok() && memtrace::has_failed_thread()) {
      return Error{memtrace::thread_failure(), 0, "what was recorded until then can be read"};
    }
    return outcome;
  } catch (...) {
    return memtrace::error_of_exception();
  }
}

// Where nothing can be taken back any more: an exception on the way out of another one. The next
// memtrace removes probes that are left.
void end_at_once() {
  constexpr std::string_view kSentence = "memtrace: out of memory while exiting\n";
  (void)!::write(STDERR_FILENO, kSentence.data(), kSentence.size());
  ::_exit(1);
}

}  // namespace

// NOLINTNEXTLINE(bugprone-exception-escape): end_at_once() sees to it.
int main(int argc, char** argv) {
  // A closed pipe is a write error like any other: `memtrace report | head`.
  std::signal(SIGPIPE, SIG_IGN);
  std::set_terminate(end_at_once);
  const auto outcome = run(argc, argv);
  if (outcome.ok()) {
    return outcome.value();
  }
  const Error& error = outcome.error();
  if (error.errno_value == EPIPE) {
    return 1;
  }
  std::fprintf(
      stderr, "memtrace: %s\n", memtrace::visible_lines(memtrace::describe(error)).c_str());
  if (!error.hint.empty()) {
    std::fprintf(stderr, "hint: %s\n", memtrace::visible_lines(error.hint).c_str());
  }
  return error.kind == memtrace::ErrorKind::Usage ? 2 : 1;
}
