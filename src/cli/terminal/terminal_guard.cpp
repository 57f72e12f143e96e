#include "cli/terminal/terminal_guard.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "base/thread/blocked_signals.h"

namespace memtrace {
namespace {

// Text that a line which stands still does not take within a second is left out: the program that
// ends waits for this.
void write_patiently(int fd, std::string_view text) {
  constexpr int kPatienceMilliseconds = 1000;
  constexpr std::size_t kPieceBytes = 256;  // what a line that is ready has room for
  pollfd line{.fd = fd, .events = POLLOUT, .revents = 0};
  while (!text.empty() && ::poll(&line, 1, kPatienceMilliseconds) == 1) {
    const ssize_t written = ::write(fd, text.data(), std::min(text.size(), kPieceBytes));
    if (written <= 0) {
      return;
    }
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

// What was said on standard error while the screen hid it.
void copy_messages(const TerminalGuard::Setup& setup) {
  if (setup.messages < 0 || ::lseek(setup.messages, 0, SEEK_SET) != 0) {
    return;
  }
  std::array<char, 4096> piece{};
  ssize_t got = 0;
  while ((got = ::read(setup.messages, piece.data(), piece.size())) > 0) {
    write_patiently(setup.standard_error, {piece.data(), static_cast<std::size_t>(got)});
  }
}

// A reader of another descriptor (ReadyNotice) shall see its end when memtrace closes it.
void close_others(const TerminalGuard::Setup& setup, int parent_alive) {
  constexpr int kFirst = 3;
  constexpr int kMaxDescriptor = 1024;  // so early, none is above
  for (int fd = kFirst; fd < kMaxDescriptor; ++fd) {
    const bool is_needed = fd == setup.terminal || fd == setup.messages ||
                           fd == setup.standard_error || fd == parent_alive;
    if (!is_needed) {
      const UniqueFd closed(fd);
    }
  }
}

// In the child: only calls that are safe after fork(2). All signals are blocked, SIGTTOU too, or a
// process in the background could not change the terminal (tcsetattr(3)).
[[noreturn]] void wait_and_restore(const TerminalGuard::Setup& setup, int parent_alive) {
  close_others(setup, parent_alive);
  char byte = 0;
  while (::read(parent_alive, &byte, 1) < 0 && errno == EINTR) {
  }
  write_patiently(setup.terminal, setup.restore);
  // Not TCSADRAIN or TCSAFLUSH, which wait until the line has taken everything (tcsetattr(3)).
  ::tcflush(setup.terminal, TCIFLUSH);
  ::tcsetattr(setup.terminal, TCSANOW, &setup.before);
  copy_messages(setup);
  ::_exit(0);
}

}  // namespace

Result<TerminalGuard> TerminalGuard::start(const Setup& setup) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return Error{"pipe2(for the terminal)", errno, ""};
  }
  UniqueFd reading(ends[0]);
  UniqueFd writing(ends[1]);
  const BlockedSignals blocked;
  const pid_t child = ::fork();
  if (child == 0) {
    writing.reset();
    wait_and_restore(setup, reading.get());
  }
  if (child < 0) {
    return Error{"fork(to restore the terminal)", errno, ""};
  }
  return TerminalGuard(child, std::move(writing));
}

TerminalGuard::TerminalGuard(TerminalGuard&& other) noexcept
    : child_(std::exchange(other.child_, -1)), alive_(std::move(other.alive_)) {}

TerminalGuard::~TerminalGuard() {
  if (child_ < 0) {
    return;
  }
  alive_.reset();
  int status = 0;
  while (::waitpid(child_, &status, 0) < 0 && errno == EINTR) {
  }
}

}  // namespace memtrace
