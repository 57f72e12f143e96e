#include "watch/trigger_gate.h"

#include <gtest/gtest.h>

namespace memtrace {
namespace {

TEST(TriggerGate, what_stays_true_fires_again_after_the_time_of_a_file) {
  TriggerGate gate(10, 70);
  for (std::uint64_t now = 100; now < 300; ++now) {
    EXPECT_EQ(gate.holds(now), (now - 100) % 70 == 0) << now;
  }
}

TEST(TriggerGate, what_was_false_for_a_while_fires_again) {
  TriggerGate gate(10, 70);
  EXPECT_TRUE(gate.holds(100));
  EXPECT_FALSE(gate.holds(109));
  EXPECT_FALSE(gate.holds(118));
  EXPECT_TRUE(gate.holds(128));
}

TEST(TriggerGate, without_times_each_one_fires) {
  TriggerGate gate(0, 0);
  EXPECT_TRUE(gate.holds(100));
  EXPECT_TRUE(gate.holds(100));
  EXPECT_TRUE(gate.holds(101));
}

}  // namespace
}  // namespace memtrace
