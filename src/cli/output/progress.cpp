#include "cli/output/progress.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>

#include "base/log.h"

namespace memtrace {

bool Progress::is_shown_here() {
  return ::isatty(STDERR_FILENO) == 1;
}

std::string describe_progress(const std::string& what, std::uint64_t done, std::uint64_t whole) {
  if (whole == 0) {
    return what;
  }
  const double share = static_cast<double>(std::min(done, whole)) / static_cast<double>(whole);
  return fmt::format("{}: {:.0f} %", what, 100 * share);
}

void Progress::at(std::uint64_t done, std::uint64_t whole) {
  if (!is_shown_) {
    return;
  }
  if (const auto now = now_(); now >= next_) {
    next_ = now + kPause;
    has_line_ = true;
    show_status(describe_progress(what_, done, whole));
  }
}

void Progress::end() {
  if (has_line_) {
    show_status("");
    has_line_ = false;
  }
}

}  // namespace memtrace
