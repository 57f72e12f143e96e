#include "sections/loss_log.h"

#include <gtest/gtest.h>

#include <numeric>

namespace memtrace {
namespace {

constexpr std::uint64_t kMs = 1'000'000;

Record at(std::uint64_t time_ns) {
  return {.stamp = {.time_ns = time_ns}, .payload = {}, .bytes = {}};
}

TEST(LossLogTest, loss_has_the_span_that_it_was_told_with) {
  LossLog log;
  log.add(at(50 * kMs), {3, LossReason::Kernel, 20 * kMs});
  log.add(at(70 * kMs), {4, LossReason::Overload});
  EXPECT_EQ(log.entries(),
            (std::vector<LossEntry>{{LossReason::Kernel, 20 * kMs, 50 * kMs, 3},
                                    {LossReason::Overload, 70 * kMs, 70 * kMs, 4}}));
}

TEST(LossLogTest, neighbours_of_one_reason_become_one) {
  LossLog log;
  log.add(at(2 * kMs), {1, LossReason::Late});
  log.add(at(3 * kMs), {2, LossReason::Kernel});
  log.add(at(4 * kMs), {5, LossReason::Late});
  log.add(at(40 * kMs), {7, LossReason::Late});
  EXPECT_EQ(log.entries(),
            (std::vector<LossEntry>{{LossReason::Late, 2 * kMs, 4 * kMs, 6},
                                    {LossReason::Kernel, 3 * kMs, 3 * kMs, 2},
                                    {LossReason::Late, 40 * kMs, 40 * kMs, 7}}));
}

TEST(LossLogTest, long_recording_has_few_entries_and_forgets_no_loss) {
  LossLog log;
  for (std::uint64_t i = 1; i <= 50'000; ++i) {
    log.add(at(i * 20 * kMs), {2, LossReason::Kernel});
  }
  EXPECT_LE(log.entries().size(), LossLog::kMaxEntries);
  EXPECT_GE(log.entries().size(), LossLog::kMaxEntries / 8);
  const std::uint64_t all =
      std::accumulate(log.entries().begin(),
                      log.entries().end(),
                      std::uint64_t{0},
                      [](std::uint64_t sum, const LossEntry& entry) { return sum + entry.count; });
  EXPECT_EQ(all, 100'000U);
}

}  // namespace
}  // namespace memtrace
