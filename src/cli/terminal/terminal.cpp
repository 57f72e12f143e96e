#include "cli/terminal/terminal.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <string_view>

namespace memtrace {
namespace {

// xterm's control sequences: the second page (1049), no cursor (25), no line breaks at the edge
// (7), clicks (1000) as decimal numbers (1006). A terminal leaves out those that it does not know.
constexpr std::string_view kBegin =
    "\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[?1000h\x1b[?1006h\x1b[0m\x1b[2J";
constexpr std::string_view kEnd =
    "\x1b[?1006l\x1b[?1000l\x1b[0m\x1b[2J\x1b[H\x1b[?7h\x1b[?25h\x1b[?1049l";

Result<> check_terminal() {
  const char* name = std::getenv("TERM");
  const std::string_view kind = name == nullptr ? "" : name;
  if (::isatty(STDOUT_FILENO) != 1) {
    return Error{"standard output is no terminal",
                 0,
                 "--batch prints each interval's rows as text",
                 ErrorKind::Usage};
  }
  if (kind.empty() || kind == "dumb" || kind == "unknown") {
    return Error{"the terminal cannot show a full screen: TERM is '" + std::string(kind) + "'",
                 0,
                 "set TERM, for example to vt100, or print text with --batch",
                 ErrorKind::Usage};
  }
  return kDone;
}

// Keys come at once and are not echoed; Ctrl-C stays a signal. Ctrl-Z would leave the full screen
// to the shell: it is no key here.
termios full_screen_of(termios settings) {
  settings.c_lflag &= static_cast<tcflag_t>(~(ICANON | ECHO));
  settings.c_iflag &= static_cast<tcflag_t>(~(ICRNL | IXON));
  settings.c_cc[VSUSP] = _POSIX_VDISABLE;
  settings.c_cc[VMIN] = 0;
  settings.c_cc[VTIME] = 0;
  return settings;
}

}  // namespace

Result<std::unique_ptr<TopTerminal>> TopTerminal::open() {
  TRY(check_terminal());
  std::unique_ptr<TopTerminal> terminal(new TopTerminal);
  TRY(terminal->set_up());
  return terminal;
}

// A descriptor of our own: O_NONBLOCK on standard output would be the shell's, too.
Result<> TopTerminal::set_up() {
  terminal_.reset(::open("/dev/tty", O_RDWR | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  termios before{};
  if (!terminal_.valid() || ::tcgetattr(terminal_.get(), &before) != 0) {
    return Error{"open(/dev/tty)", errno, "print text with --batch"};
  }
  TRY(divert_messages());
  auto guard = TerminalGuard::start({.terminal = terminal_.get(),
                                     .before = before,
                                     .restore = kEnd,
                                     .messages = messages_.get(),
                                     .standard_error = standard_error_.get()});
  if (!guard.ok()) {
    return guard.take_error();
  }
  guard_ = std::make_unique<TerminalGuard>(guard.take());
  if (messages_.valid()) {
    ::dup2(messages_.get(), STDERR_FILENO);
  }
  const termios settings = full_screen_of(before);
  if (::tcsetattr(terminal_.get(), TCSANOW, &settings) != 0) {
    return Error{"tcsetattr(/dev/tty)", errno, "print text with --batch"};
  }
  unsent_ = kBegin;
  send_rest();
  return kDone;
}

// Warnings would be written over the screen: a file in memory keeps them until its end. Before
// Linux 3.17 there is none, and they are written over the screen.
Result<> TopTerminal::divert_messages() {
  if (::isatty(STDERR_FILENO) != 1) {
    return kDone;
  }
  messages_.reset(::memfd_create("memtrace messages", MFD_CLOEXEC));
  if (!messages_.valid()) {
    return kDone;
  }
  standard_error_.reset(::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0));
  return standard_error_.valid() ? Result<>(kDone)
                                 : Result<>(Error{"dup(standard error)", errno, ""});
}

TopTerminal::~TopTerminal() {
  if (standard_error_.valid()) {
    ::dup2(standard_error_.get(), STDERR_FILENO);
  }
}

ScreenSize TopTerminal::size() const {
  winsize size{};
  const bool is_known = ::ioctl(terminal_.get(), TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return is_known ? ScreenSize{.columns = size.ws_col, .lines = size.ws_row} : ScreenSize{};
}

std::vector<Key> TopTerminal::take_keys() {
  constexpr std::chrono::milliseconds kSequencePatience{100};
  std::array<char, 512> bytes{};
  const auto now = std::chrono::steady_clock::now();
  const ssize_t got = ::read(terminal_.get(), bytes.data(), bytes.size());
  if (got > 0) {
    last_byte_ = now;
    return decoder_.feed({bytes.data(), static_cast<std::size_t>(got)});
  }
  // A terminal that was hung up fails with EIO for a background process and has no more bytes for
  // one in the foreground; VMIN of 0 gives no bytes, too, where nothing was typed.
  is_gone_ = is_gone_ || (got < 0 && errno == EIO);
  return now - last_byte_ > kSequencePatience ? decoder_.flush() : std::vector<Key>{};
}

void TopTerminal::show(const ScreenFrame& frame) {
  unsent_ += writer_.update(frame);
  send_rest();
}

void TopTerminal::send_rest() {
  while (!unsent_.empty()) {
    const ssize_t written = ::write(terminal_.get(), unsent_.data(), unsent_.size());
    if (written <= 0) {
      is_gone_ = is_gone_ || (written < 0 && errno == EIO);
      return;
    }
    unsent_.erase(0, static_cast<std::size_t>(written));
  }
}

}  // namespace memtrace
