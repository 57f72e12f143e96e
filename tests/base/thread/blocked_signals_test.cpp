#include "base/thread/blocked_signals.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <thread>

namespace memtrace {
namespace {

bool is_blocked(int signal) {
  sigset_t now{};
  ::pthread_sigmask(SIG_SETMASK, nullptr, &now);
  return ::sigismember(&now, signal) == 1;
}

TEST(BlockedSignals, thread_that_is_started_has_them_blocked_and_the_caller_does_not) {
  std::thread thread;
  bool is_interrupt_blocked = false;
  bool is_bus_error_blocked = true;
  {
    const BlockedSignals blocked{SIGBUS};
    thread = std::thread([&] {
      is_interrupt_blocked = is_blocked(SIGINT);
      is_bus_error_blocked = is_blocked(SIGBUS);
    });
  }
  thread.join();
  EXPECT_TRUE(is_interrupt_blocked);
  EXPECT_FALSE(is_bus_error_blocked);
  EXPECT_FALSE(is_blocked(SIGINT));
}

// As of std::thread, when no more threads may be had.
TEST(BlockedSignals, exception_leaves_the_mask_as_it_was) {
  try {
    const BlockedSignals blocked;
    EXPECT_TRUE(is_blocked(SIGINT));
    throw std::runtime_error("no thread");
  } catch (const std::runtime_error&) {
  }
  EXPECT_FALSE(is_blocked(SIGINT));
}

}  // namespace
}  // namespace memtrace
