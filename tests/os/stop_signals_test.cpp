#include "os/stop_signals.h"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>

namespace memtrace {
namespace {

TEST(StopSignalsTest, every_signal_stops_unless_it_is_asked_for_otherwise) {
  StopSignals signals;
  std::raise(SIGUSR2);
  EXPECT_EQ(signals.asked().count, 1U);
  EXPECT_TRUE(signals.poll().has_value());
  EXPECT_FALSE(signals.take_user_request());
}

TEST(StopSignalsTest, user_request_stops_nothing_and_is_told_once) {
  StopSignals signals;
  signals.let_user_request();
  EXPECT_FALSE(signals.take_user_request());
  std::raise(SIGUSR2);
  EXPECT_FALSE(signals.poll().has_value());
  EXPECT_EQ(signals.asked().count, 0U);
  EXPECT_TRUE(signals.take_user_request());
  EXPECT_FALSE(signals.take_user_request());
  std::raise(SIGUSR1);
  EXPECT_TRUE(signals.poll().has_value());
}

// What follows the last poll() of a process that was sent `first`, and then SIGQUIT.
[[noreturn]] void end_after(int first) {
  {
    StopSignals signals;
    if (first != 0) {
      std::raise(first);
    }
  }
  std::raise(SIGQUIT);
  std::_Exit(7);
}

TEST(StopSignalsTest, process_that_was_asked_to_stop_ends_by_itself) {
  EXPECT_EXIT(end_after(SIGTERM), testing::ExitedWithCode(7), "");
}

TEST(StopSignalsTest, process_that_was_not_asked_ends_by_a_signal_as_others_do) {
  EXPECT_EXIT(end_after(0), testing::KilledBySignal(SIGQUIT), "");
}

}  // namespace
}  // namespace memtrace
