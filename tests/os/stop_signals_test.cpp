#include "os/stop_signals.h"

#include <gtest/gtest.h>

#include <csignal>

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

}  // namespace
}  // namespace memtrace
