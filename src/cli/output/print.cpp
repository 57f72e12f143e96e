#include "cli/output/print.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string_view>

#include "base/text.h"
#include "base/visible.h"
#include "cli/output/pager.h"
#include "cli/output/replaced_file.h"
#include "cli/output/screen_cut.h"
#include "render/all/all_renderers.h"
#include "render/caveats.h"

namespace memtrace {
namespace {

constexpr std::size_t kWidth = 120;       // of a pipe or a file
constexpr std::size_t kWidest = 100'000;  // of --wide: no name is longer

// Of 0 rows and columns: it is no terminal. Its own columns count here, not those asked for: longer
// lines go on in its next row.
Screen output_screen() {
  winsize size{};
  return ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0
             ? Screen{.rows = size.ws_row, .columns = size.ws_col}
             : Screen{};
}

// NO_COLOR is what many programs know (no-color.org); a dumb terminal knows no escape sequences.
bool wants_colours(const PrintOptions& options) {
  const char* refused = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  const bool is_smart = terminal != nullptr && std::string_view(terminal) != "dumb";
  return options.colours == Colours::Always ||
         (options.colours == Colours::OnTerminal && options.output.empty() &&
          (refused == nullptr || *refused == '\0') && is_smart && ::isatty(STDOUT_FILENO) == 1);
}

Result<Colours> read_colours(const ParsedOptions& parsed) {
  const std::string when = parsed.text("color", "auto");
  if (when == "auto" || when == "always" || when == "never") {
    return when == "auto"     ? Colours::OnTerminal
           : when == "always" ? Colours::Always
                              : Colours::Never;
  }
  return Error{"--color " + when, 0, "takes auto, always or never", ErrorKind::Usage};
}

std::vector<std::string> environment_of_user() {
  std::vector<std::string> variables;
  for (char** variable = ::environ; *variable != nullptr; ++variable) {
    variables.emplace_back(*variable);
  }
  return variables;
}

// Whether the user has read it there.
bool is_paged(std::string_view text, const PrintOptions& options) {
  if (!options.may_page || options.format != "text" || ::isatty(STDIN_FILENO) != 1 ||
      ::isatty(STDOUT_FILENO) != 1 || !is_longer_than(text, output_screen().rows)) {
    return false;
  }
  return show_in_pager(pager_command(::geteuid() == 0, environment_of_user()), text);
}

// True when a write of kPieceBytes will not wait; false when the user wants to end and it would.
bool wait_for_room(StopSignals& stop_signals) {
  constexpr int kLookMilliseconds = 50;
  constexpr std::chrono::seconds kPatience{1};
  pollfd output{.fd = STDOUT_FILENO, .events = POLLOUT, .revents = 0};
  const auto begin = std::chrono::steady_clock::now();
  while (::poll(&output, 1, kLookMilliseconds) == 0) {
    const StopSignals::Asked asked = stop_signals.asked();
    if (asked.count > 0 &&
        std::chrono::steady_clock::now() - std::max(begin, asked.first) > kPatience) {
      return false;
    }
  }
  return true;
}

// write(2) and not a stream: a full disk or a closed pipe keeps its errno.
Result<> write_all(std::string_view text, StopSignals* stop_signals) {
  // Where poll(2) finds room in a pipe, this much fits (pipe(7), PIPE_BUF).
  constexpr std::size_t kPieceBytes = PIPE_BUF;
  while (!text.empty()) {
    if (stop_signals != nullptr && !wait_for_room(*stop_signals)) {
      return Error{"write(standard output): nobody reads it",
                   0,
                   "memtrace received a signal to end and stopped waiting for its reader"};
    }
    const std::size_t wanted =
        stop_signals == nullptr ? text.size() : std::min(text.size(), kPieceBytes);
    const ssize_t written = ::write(STDOUT_FILENO, text.data(), wanted);
    if (written < 0 && errno != EINTR) {
      return Error{"write(standard output)", errno, ""};
    }
    text.remove_prefix(written < 0 ? 0 : static_cast<std::size_t>(written));
  }
  return kDone;
}

}  // namespace

std::size_t output_columns(std::size_t asked) {
  const char* columns = std::getenv("COLUMNS");
  const auto set = parse_number(columns == nullptr ? "" : columns);
  if (asked != 0 || (set && *set != 0)) {
    return asked != 0 ? asked : std::min<std::size_t>(*set, kWidest);
  }
  winsize size{};
  const bool is_terminal = ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return is_terminal ? size.ws_col : kWidth;
}

bool is_terminal() {
  return ::isatty(STDOUT_FILENO) == 1;
}

Result<PrintOptions> read_print_options(const ParsedOptions& parsed) {
  PrintOptions options{.format = parsed.text("format", "text"),
                       .output = parsed.text("output"),
                       .host_columns = parsed.has("host-columns")};
  TRY(check_format(options.format));
  constexpr std::uint64_t kLeast = 40;
  const auto width = parsed.number("width", 0);
  if (!width.ok() || (parsed.has("width") && (width.value() < kLeast || width.value() > kWidest))) {
    return Error{"--width " + parsed.text("width"),
                 0,
                 "takes a number of columns from 40 to 100000",
                 ErrorKind::Usage};
  }
  options.columns = parsed.has("wide") ? kWidest : width.value();
  const auto colours = read_colours(parsed);
  if (!colours.ok()) {
    return colours.error();
  }
  options.colours = colours.value();
  if (parsed.has("push")) {
    auto target = read_push_target(parsed.text("push"), std::getenv("MEMTRACE_PUSH_TOKEN"));
    if (!target.ok()) {
      return target.take_error();
    }
    options.push = target.take();
  }
  return options;
}

Result<> check_format(const std::string& format) {
  if (find_renderer(format) == nullptr) {
    return Error{
        "unknown format '" + format + "'", 0, "formats are " + format_names(), ErrorKind::Usage};
  }
  return kDone;
}

Result<> check_printing(const PrintOptions& options, std::string_view view) {
  TRY(check_format(options.format));
  const NamedRenderer& renderer = *find_renderer(options.format);
  const std::string name(renderer.name);
  if (renderer.is_binary && !options.push && options.output.empty() &&
      ::isatty(STDOUT_FILENO) == 1) {
    return Error{"--format " + name + " is not for terminals",
                 0,
                 "give a file with --output FILE",
                 ErrorKind::Usage};
  }
  if (renderer.needs_view && view.empty()) {
    const std::string option = options.push ? "--push URL" : "--format " + name;
    return Error{option + " without a view",
                 0,
                 "it holds one view: memtrace report VIEW " + option,
                 ErrorKind::Usage};
  }
  const bool suits = renderer.only_of_view.empty() || renderer.only_of_view == view;
  return suits ? Result<>(kDone)
               : Error{"--format " + name + " of the view " + std::string(view),
                       0,
                       "it holds the view " + std::string(renderer.only_of_view) + " alone",
                       ErrorKind::Usage};
}

Result<> print_report(const Report& report, const PrintOptions& options) {
  TRY(check_format(options.format));
  if (options.push) {
    return push_report(*options.push, report);
  }
  const auto renderer = make_renderer(options.format,
                                      {.columns = output_columns(options.columns),
                                       .colours = wants_colours(options),
                                       .one_line = options.one_line,
                                       .host_columns = options.host_columns,
                                       .version = MEMTRACE_VERSION});
  std::ostringstream text;
  if (options.format == "text") {
    text << visible(options.heading);
  }
  renderer->render(report, text);
  if (!options.output.empty() && options.output != "-") {
    return replace_file(options.output, text.view());
  }
  if (options.one_screen && options.format == "text" && is_terminal()) {
    constexpr std::size_t kLastLine = 1;  // where the cursor stands
    Screen screen = output_screen();
    screen.rows -= std::min(screen.rows, kLastLine);
    return write_all(cut_to_screen(text.view(), screen), options.stop_signals);
  }
  return is_paged(text.view(), options) ? Result<>(kDone)
                                        : write_all(text.view(), options.stop_signals);
}

void print_caveats(const Caveats& caveats) {
  for (const std::string& line : caveat_lines(caveats)) {
    std::fputs((visible(line) + "\n").c_str(), stderr);
  }
}

Result<> clear_screen() {
  // ECMA-48: the cursor to the first place (CUP), and all of the page erased (ED 2).
  constexpr std::string_view kClear = "\x1b[H\x1b[2J";
  return ::isatty(STDOUT_FILENO) == 1 ? write_all(kClear, nullptr) : Result<>(kDone);
}

Result<LinePrinter> LinePrinter::create(std::string_view option, const PrintOptions& options) {
  TRY(check_format(options.format));
  auto renderer = make_line_renderer(
      options.format,
      {.columns = output_columns(options.columns), .screen_rows = output_screen().rows});
  if (!renderer) {
    return Error{std::string(option) + " prints no " + options.format,
                 0,
                 "its formats are text, json and csv",
                 ErrorKind::Usage};
  }
  if (!options.output.empty()) {
    return Error{std::string(option) + " beside --output",
                 0,
                 "lines go to standard output: > FILE",
                 ErrorKind::Usage};
  }
  return LinePrinter(options, std::move(renderer));
}

Result<> LinePrinter::print(const Report& lines) {
  std::ostringstream text;
  renderer_->render(lines, text);
  return write_all(text.view(), options_.stop_signals);
}

Result<> LinePrinter::end(const Report& report) {
  if (options_.format == "json") {
    options_.one_line = true;
    return print_report(report, options_);
  }
  print_caveats(report.caveats);
  return kDone;
}

Result<> print_text(const std::string& text, StopSignals* stop_signals) {
  return write_all(visible_lines(text), stop_signals);
}

}  // namespace memtrace
