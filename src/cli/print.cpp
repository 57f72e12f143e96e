#include "cli/print.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <sstream>
#include <string_view>

#include "base/text.h"
#include "render/renderer.h"

namespace memtrace {
namespace {

constexpr std::size_t kWidth = 100;

// A terminal's own width where it is wider: function names are long.
std::size_t output_columns() {
  winsize size{};
  const bool is_terminal = ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return is_terminal ? std::max<std::size_t>(size.ws_col, 80) : kWidth;
}

// write(2) and not a stream: a full disk or a closed pipe keeps its errno.
Result<> write_all(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(STDOUT_FILENO, text.data(), text.size());
    if (written < 0 && errno != EINTR) {
      return Error{"write(standard output)", errno, ""};
    }
    text.remove_prefix(written < 0 ? 0 : static_cast<std::size_t>(written));
  }
  return kDone;
}

}  // namespace

Result<> check_format(const std::string& format) {
  std::vector<std::string> names;
  for (const NamedRenderer& renderer : all_renderers()) {
    names.emplace_back(renderer.name);
    if (renderer.name == format) {
      return kDone;
    }
  }
  return Error{
      "unknown format '" + format + "'", 0, "formats are " + join(names, ", "), ErrorKind::Usage};
}

Result<> print_report(const Report& report, const PrintOptions& options) {
  TRY(check_format(options.format));
  const auto renderer = make_renderer(
      options.format,
      {.columns = output_columns(), .one_line = options.one_line, .version = MEMTRACE_VERSION});
  std::ostringstream text;
  renderer->render(report, text);
  return write_all(text.view());
}

Result<> print_text(const std::string& text) {
  return write_all(text);
}

}  // namespace memtrace
