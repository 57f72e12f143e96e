// Which events are offered with several periods.
#include "perf/pace/ladder.h"

#include <gtest/gtest.h>

namespace memtrace::ladder_test {
namespace {

EventRequest tracepoint(const char* name) {
  return {.info = {.name = name}, .type = kTypeTracepoint, .may_be_sampled = true};
}

constexpr std::size_t kOfOne = kPeriods.size() + kWindowShares.size();

TEST(LadderTest, an_event_is_offered_once_for_each_period_and_one_starts) {
  const auto all = with_all_periods({tracepoint("kmem:kmalloc"), tracepoint("kmem:kfree")});
  ASSERT_EQ(all.size(), 2 * kOfOne);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::size_t rung = i % kOfOne;
    EXPECT_EQ(all[i].ladder, i / kOfOne);
    EXPECT_EQ(all[i].starts_disabled, rung != kFirstRung);
    EXPECT_EQ(all[i].info.name, i < kOfOne ? "kmem:kmalloc" : "kmem:kfree");
    EXPECT_EQ(all[i].is_of_windows(), rung >= kPeriods.size());
    EXPECT_TRUE(rung >= kPeriods.size() || all[i].info.period == kPeriods[rung]);
  }
}

TEST(LadderTest, a_sample_of_a_window_counts_for_its_period_in_each_slot) {
  const auto all = with_all_periods({tracepoint("kmem:kmalloc")});
  for (std::size_t i = 0; i < kWindowShares.size(); ++i) {
    const EventInfo& info = all[kPeriods.size() + i].info;
    EXPECT_EQ(info.window_share, kWindowShares[i]);
    EXPECT_EQ(info.period, kWindowShares[i] * kPeriods[kWindowRung]);
    EXPECT_EQ(kCycleNs / info.window_share * info.window_share, info.cycle_ns);
  }
}

TEST(LadderTest, a_user_probe_is_offered_whole_and_in_windows) {
  EventRequest probe{.info = {.name = "memtrace_heap_1:malloc"}, .type = kTypeTracepoint};
  probe.probed_file = "/lib/libc.so.6";
  probe.shared = SharedProbe{.tracepoint_id = 7};
  const auto all = with_all_periods({probe});
  ASSERT_EQ(all.size(), 1 + kProbeShares.size());
  EXPECT_FALSE(all.front().is_of_windows());
  EXPECT_TRUE(all.front().shared);
  for (std::size_t i = 0; i < kProbeShares.size(); ++i) {
    const EventRequest& in_windows = all[1 + i];
    EXPECT_EQ(in_windows.info.window_share, kProbeShares[i]);
    EXPECT_EQ(in_windows.info.period, kProbeShares[i]);
    EXPECT_EQ(in_windows.info.cycle_ns, kProbeCycleNs);
    EXPECT_FALSE(in_windows.shared);
    EXPECT_FALSE(in_windows.ladder);
  }
  const std::string path = probe.probed_file;
  probe.pmu_probe = PmuProbe{.path = std::make_shared<const std::string>(path)};
  EXPECT_EQ(with_all_periods({probe}).size(), 1U);
}

TEST(LadderTest, what_must_be_whole_stays_as_it_is) {
  std::vector<EventRequest> whole(5, tracepoint("group:event"));
  whole[0].may_be_sampled = false;  // half of a pair
  whole[1].with_tracking = true;
  whole[2].count_only = true;
  whole[3].on_user_code = true;
  whole[4].info.is_tracking = true;
  const auto all = with_all_periods(whole);
  ASSERT_EQ(all.size(), whole.size());
  for (const EventRequest& request : all) {
    EXPECT_FALSE(request.ladder);
    EXPECT_FALSE(request.starts_disabled);
    EXPECT_EQ(request.info.period, 1U);
  }
}

}  // namespace
}  // namespace memtrace::ladder_test
