// Output that stands still: waited for until somebody wants to end.
#include "perf/file_out/async_output.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <memory>
#include <thread>

namespace memtrace {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

struct Pipe {
  UniqueFd reader;
  UniqueFd writer;
};

Pipe make_pipe() {
  std::array<int, 2> ends{};
  EXPECT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
  return {UniqueFd(ends[0]), UniqueFd(ends[1])};
}

void fill(AsyncOutput& output, std::size_t blocks) {
  const std::vector<std::byte> block(AsyncOutput::kBlockBytes);
  for (std::size_t i = 0; i < blocks; ++i) {
    output.append(block);
  }
}

TEST(AsyncOutputTest, second_signal_ends_the_wait_for_a_pipe_that_stands_still) {
  StopSignals signals;
  Pipe pipe = make_pipe();
  AsyncOutput output(std::move(pipe.writer), &signals);
  ::kill(::getpid(), SIGTERM);
  ::kill(::getpid(), SIGINT);
  fill(output, AsyncOutput::kQueueBlocks + 4);  // more than may be under way
  output.drain();
  EXPECT_EQ(output.failure(), ETIMEDOUT);
  // A caller that polls still sees the signals.
  EXPECT_TRUE(signals.poll().has_value());
  EXPECT_TRUE(signals.poll().has_value());
  EXPECT_FALSE(signals.poll().has_value());
}

TEST(AsyncOutputTest, first_signal_leaves_a_moment) {
  StopSignals signals;
  Pipe pipe = make_pipe();
  const auto begin = Clock::now();
  {
    AsyncOutput output(std::move(pipe.writer), &signals);
    ::kill(::getpid(), SIGTERM);
    fill(output, 1);
  }  // the destructor waits, and gives up
  EXPECT_GE(Clock::now() - begin, AsyncOutput::kPatience);
  EXPECT_LT(Clock::now() - begin, 3 * AsyncOutput::kPatience);
}

TEST(AsyncOutputTest, slow_reader_gets_all_in_spite_of_signals) {
  StopSignals signals;
  Pipe pipe = make_pipe();
  auto output = std::make_unique<AsyncOutput>(std::move(pipe.writer), &signals);
  ::kill(::getpid(), SIGTERM);  // a second one would leave the reader 0.2 s, too few for a busy CPU
  std::size_t got_bytes = 0;
  std::thread reader([&] {
    std::vector<char> buffer(AsyncOutput::kBlockBytes / 8);
    for (ssize_t got = 1; got > 0;) {
      std::this_thread::sleep_for(milliseconds(10));
      got = ::read(pipe.reader.get(), buffer.data(), buffer.size());
      got_bytes += got > 0 ? static_cast<std::size_t>(got) : 0;
    }
  });
  fill(*output, 1);
  output->drain();
  EXPECT_EQ(output->failure(), 0);
  output.reset();  // the end, for the reader
  reader.join();
  EXPECT_EQ(got_bytes, AsyncOutput::kBlockBytes);
}

TEST(AsyncOutputTest, without_a_signal_it_waits) {
  StopSignals signals;
  Pipe pipe = make_pipe();
  AsyncOutput output(std::move(pipe.writer), &signals);
  fill(output, 1);
  output.flush();
  std::this_thread::sleep_for(milliseconds(20));
  EXPECT_EQ(output.failure(), 0);
  std::vector<char> buffer(AsyncOutput::kBlockBytes);
  std::thread reader([&] {
    while (output.written_bytes() < buffer.size()) {
      pollfd wait{.fd = pipe.reader.get(), .events = POLLIN, .revents = 0};
      if (::poll(&wait, 1, 10) == 1) {
        (void)!::read(pipe.reader.get(), buffer.data(), buffer.size());
      }
    }
  });
  output.drain();
  reader.join();
  EXPECT_EQ(output.written_bytes(), AsyncOutput::kBlockBytes);
}

}  // namespace
}  // namespace memtrace
