#include "watch/pending_capture.h"

#include <gtest/gtest.h>

namespace memtrace {
namespace {

constexpr std::uint64_t kMebibyte = 1U << 20;

Firing firing(const std::string& word) {
  return {.fired = {word, 5, "text"}, .label = word, .killed = {}};
}

TEST(PendingCapture, is_due_when_the_time_after_the_first_one_is_over) {
  PendingCapture pending(10);
  EXPECT_FALSE(pending.is_due(1000));
  pending.fire(firing("oom"), {}, 100);
  pending.fire(firing("enomem"), {}, 105);
  EXPECT_FALSE(pending.is_due(109));
  EXPECT_TRUE(pending.is_due(110));
  EXPECT_EQ(pending.label(), "oom");
  EXPECT_EQ(pending.facts({}, 40).triggers.size(), 2U);
  EXPECT_EQ(pending.facts({}, 40).sizes_ns, 60U);
  pending.clear();
  EXPECT_FALSE(pending.is_waiting());
  EXPECT_FALSE(pending.is_due(1000));
}

TEST(PendingCapture, who_was_killed_is_as_large_as_before_the_kill_and_comes_first) {
  PendingCapture pending(10);
  Firing kill = firing("oom");
  kill.killed = ResidentSize{2, "victim", 30 * kMebibyte};
  pending.fire(kill, {{1, "other", 90 * kMebibyte}, {2, "victim", 4096}}, 100);
  const auto grown = pending.facts({{2, "victim", 10 * kMebibyte}}, 0).grown;
  ASSERT_EQ(grown.size(), 2U);
  EXPECT_EQ(grown[0], (GrownProcess{2, "victim", 10 * kMebibyte, 30 * kMebibyte}));
  EXPECT_EQ(grown[1].comm, "other");
}

}  // namespace
}  // namespace memtrace
