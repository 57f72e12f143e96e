#include "cli/terminal/terminal_guard.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <string>

namespace memtrace {
namespace {

// A terminal without a user: what is written to it can be read from its other end.
class TerminalGuardTest : public testing::Test {
 protected:
  void SetUp() override {
    master_.reset(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
    ASSERT_TRUE(master_.valid());
    ASSERT_EQ(::grantpt(master_.get()), 0);
    ASSERT_EQ(::unlockpt(master_.get()), 0);
    terminal_.reset(::open(::ptsname(master_.get()), O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK));
    ASSERT_EQ(::tcgetattr(terminal_.get(), &before_), 0);
    termios full = before_;
    full.c_lflag &= static_cast<tcflag_t>(~(ICANON | ECHO));
    ASSERT_EQ(::tcsetattr(terminal_.get(), TCSANOW, &full), 0);
  }

  TerminalGuard::Setup setup() const {
    return {.terminal = terminal_.get(), .before = before_, .restore = "END"};
  }

  // What comes within two seconds, of a child that has to run first.
  static std::string read_from(const UniqueFd& fd) {
    pollfd wait{.fd = fd.get(), .events = POLLIN, .revents = 0};
    constexpr int kPatienceMilliseconds = 2000;
    std::array<char, 64> bytes{};
    if (::poll(&wait, 1, kPatienceMilliseconds) != 1) {
      return "";
    }
    const ssize_t got = ::read(fd.get(), bytes.data(), bytes.size());
    return got > 0 ? std::string(bytes.data(), static_cast<std::size_t>(got)) : "";
  }

  bool is_as_before() const {
    termios now{};
    return ::tcgetattr(terminal_.get(), &now) == 0 && now.c_lflag == before_.c_lflag;
  }

  UniqueFd master_;
  UniqueFd terminal_;
  termios before_{};
};

TEST_F(TerminalGuardTest, restores_the_terminal_when_it_goes) {
  {
    const auto guard = TerminalGuard::start(setup());
    ASSERT_TRUE(guard.ok());
    EXPECT_FALSE(is_as_before());
  }
  EXPECT_TRUE(is_as_before());
  EXPECT_EQ(read_from(master_), "END");
}

TEST_F(TerminalGuardTest, restores_the_terminal_of_a_program_that_is_killed) {
  const pid_t program = ::fork();
  if (program == 0) {
    const auto guard = TerminalGuard::start(setup());
    ::kill(::getpid(), SIGKILL);
  }
  EXPECT_EQ(read_from(master_), "END");
  int status = 0;
  ::waitpid(program, &status, 0);
  for (int i = 0; i < 100 && !is_as_before(); ++i) {
    ::usleep(10'000);
  }
  EXPECT_TRUE(is_as_before()) << "soon after the bytes";
}

TEST_F(TerminalGuardTest, what_was_said_in_between_comes_behind) {
  const UniqueFd messages(::memfd_create("messages", MFD_CLOEXEC));
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
  const UniqueFd reading(ends[0]);
  const UniqueFd standard_error(ends[1]);
  auto with_messages = setup();
  with_messages.messages = messages.get();
  with_messages.standard_error = standard_error.get();
  {
    const auto guard = TerminalGuard::start(with_messages);
    ASSERT_TRUE(guard.ok());
    ASSERT_EQ(::write(messages.get(), "warning\n", 8), 8);
  }
  EXPECT_EQ(read_from(reading), "warning\n");
}

TEST_F(TerminalGuardTest, a_line_that_stands_still_does_not_hold_up_the_end) {
  const std::string bytes(4096, '.');
  while (::write(terminal_.get(), bytes.data(), bytes.size()) > 0) {
  }
  const auto begin = std::chrono::steady_clock::now();
  {
    const auto guard = TerminalGuard::start(setup());
    ASSERT_TRUE(guard.ok());
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
  EXPECT_TRUE(is_as_before());
}

TEST_F(TerminalGuardTest, other_descriptors_are_not_held_open) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
  const UniqueFd reading(ends[0]);
  UniqueFd writing(ends[1]);
  const auto guard = TerminalGuard::start(setup());
  ASSERT_TRUE(guard.ok());
  writing.reset();
  pollfd end{.fd = reading.get(), .events = POLLIN, .revents = 0};
  EXPECT_EQ(::poll(&end, 1, 2000), 1);
  EXPECT_NE(end.revents & POLLHUP, 0) << "the reader of ReadyNotice waits for this end";
}

}  // namespace
}  // namespace memtrace
