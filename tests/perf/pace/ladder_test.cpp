// Which events are offered with several periods.
#include "perf/pace/ladder.h"

#include <gtest/gtest.h>

namespace memtrace::ladder_test {
namespace {

EventRequest tracepoint(const char* name) {
  return {.info = {.name = name}, .type = kTypeTracepoint, .may_be_sampled = true};
}

TEST(LadderTest, an_event_is_offered_once_for_each_period_and_one_starts) {
  const auto all = with_all_periods({tracepoint("kmem:kmalloc"), tracepoint("kmem:kfree")});
  ASSERT_EQ(all.size(), 2 * kPeriods.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(all[i].info.period, kPeriods[i % kPeriods.size()]);
    EXPECT_EQ(all[i].ladder, i / kPeriods.size());
    EXPECT_EQ(all[i].starts_disabled, i % kPeriods.size() != kFirstRung);
    EXPECT_EQ(all[i].info.name, i < kPeriods.size() ? "kmem:kmalloc" : "kmem:kfree");
  }
}

TEST(LadderTest, what_must_be_whole_stays_as_it_is) {
  std::vector<EventRequest> whole(6, tracepoint("group:event"));
  whole[0].may_be_sampled = false;  // half of a pair
  whole[1].with_tracking = true;
  whole[2].count_only = true;
  whole[3].on_user_code = true;
  whole[4].probed_file = "/lib/libc.so.6";
  whole[5].info.is_tracking = true;
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
