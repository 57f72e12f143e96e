#include "views/leak/site_history.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace memtrace::site_history_test {
namespace {

constexpr std::uint64_t kMillisecondNs = 1'000'000;

TEST(SiteHistory, knows_what_was_allocated_and_freed_and_how_soon) {
  LeakTimeline timeline;
  SiteHistory history;
  for (std::uint64_t i = 0; i < 10; ++i) {
    history.allocate(timeline, i * 10 * kMillisecondNs, {1, 100});
  }
  EXPECT_EQ(history.half_life_ns(), std::nullopt);
  for (std::uint64_t i = 0; i < 6; ++i) {
    history.free(
        timeline, (100 + i * 10) * kMillisecondNs, (100 + i * 10 - 3) * kMillisecondNs, {1, 100});
  }
  EXPECT_EQ(history.allocated().count, 10U);
  EXPECT_EQ(history.allocated().bytes, 1000U);
  EXPECT_EQ(history.freed().count, 6U);
  EXPECT_EQ(history.freed_within(11), 0U);  // 2.048 ms
  EXPECT_EQ(history.freed_within(12), 6U);
  ASSERT_TRUE(history.half_life_ns());
  EXPECT_GT(*history.half_life_ns(), 2 * kMillisecondNs);
  EXPECT_LT(*history.half_life_ns(), 5 * kMillisecondNs);
}

TEST(SiteHistory, few_allocations_have_sums_alone) {
  LeakTimeline timeline;
  SiteHistory history;
  history.allocate(timeline, 0, {1, 100});
  history.free(timeline, 5, 0, {1, 100});
  EXPECT_FALSE(history.has_detail());
  EXPECT_EQ(history.freed().count, 1U);
  EXPECT_EQ(history.half_life_ns(), std::nullopt);
  EXPECT_EQ(history.lows(), SiteHistory::Intervals{});
}

TEST(SiteHistory, detail_has_a_bound_and_sums_have_none) {
  LeakTimeline timeline;
  std::uint32_t details = 0;
  for (std::uint32_t row = 0; row < LeakTimeline::kMaxDetails + 10; ++row) {
    SiteHistory history;
    history.allocate(timeline, 0, {8, 64});
    EXPECT_EQ(history.allocated().count, 8U);
    details += history.has_detail() ? 1 : 0;
  }
  EXPECT_EQ(details, LeakTimeline::kMaxDetails);
}

// What a history must know of the least that was live, kept moment by moment.
class Model {
 public:
  void note(std::uint64_t time_ns, std::uint64_t live) { live_at_[time_ns] = live; }

  std::uint64_t low(std::uint64_t start_ns, std::uint64_t limit_ns) const {
    auto at = live_at_.upper_bound(start_ns);
    std::uint64_t low = at == live_at_.begin() ? 0 : std::prev(at)->second;
    for (; at != live_at_.end() && at->first < limit_ns; ++at) {
      low = std::min(low, at->second);
    }
    return low;
  }

 private:
  std::map<std::uint64_t, std::uint64_t> live_at_;
};

TEST(SiteHistory, the_least_that_was_live_in_an_interval_is_that_of_all_moments) {
  LeakTimeline timeline;
  SiteHistory history;
  Model model;
  std::mt19937 random(7);
  std::uint64_t time_ns = 1'000'000'000;
  std::uint64_t live = 0;
  history.allocate(timeline, time_ns, {4, 4000});
  live += 4000;
  model.note(time_ns, live);
  for (int i = 0; i < 3000; ++i) {
    time_ns += 1 + random() % (40 * kMillisecondNs);  // each is later than the one before
    const bool frees = live > 0 && random() % 2 == 0;
    if (frees) {
      const std::uint64_t bytes = 1 + random() % live;
      history.free(timeline, time_ns, time_ns, {1, bytes});
      live -= bytes;
    } else {
      const std::uint64_t bytes = random() % 1000;
      history.allocate(timeline, time_ns, {1, bytes});
      live += bytes;
    }
    model.note(time_ns, live);
  }
  const SiteHistory::Intervals lows = history.lows();
  ASSERT_GE(timeline.count(), 16U);
  // What is live when an interval begins counts as its own: so it is in the first one.
  EXPECT_EQ(lows[0], 0U);
  for (std::size_t i = 1; i < timeline.count(); ++i) {
    const std::uint64_t start_ns = timeline.start_ns() + i * timeline.width_ns();
    EXPECT_EQ(lows[i], model.low(start_ns, start_ns + timeline.width_ns())) << i;
  }
}

TEST(SiteHistory, two_that_become_one_are_as_if_they_had_always_been_one) {
  LeakTimeline timeline;
  SiteHistory first;
  SiteHistory second;
  SiteHistory both;
  std::mt19937 random(3);
  for (std::uint64_t time_ns = 0; time_ns < 9'000 * kMillisecondNs; time_ns += kMillisecondNs) {
    SiteHistory& one = random() % 5 == 0 ? first : second;
    one.allocate(timeline, time_ns, {1, 64});
    both.allocate(timeline, time_ns, {1, 64});
    if (random() % 2 == 0) {
      one.free(timeline, time_ns, 0, {1, 64});
      both.free(timeline, time_ns, 0, {1, 64});
    }
  }
  first += second;
  EXPECT_EQ(first.allocated().count, both.allocated().count);
  EXPECT_EQ(first.freed().bytes, both.freed().bytes);
  EXPECT_EQ(first.half_life_ns(), both.half_life_ns());
  EXPECT_EQ(first.last_ns(), both.last_ns());
  for (std::size_t i = 1; i < timeline.count(); ++i) {
    // Each of the two has its lowest moment in an interval, and that is not always the same one.
    EXPECT_LE(first.lows()[i], both.lows()[i]) << i;
    EXPECT_GE(first.lows()[i] + 1024, both.lows()[i]) << i;
  }
}

TEST(SiteHistory, survivors_are_counted_by_the_interval_they_were_made_in) {
  LeakTimeline timeline;
  SiteHistory history;
  for (int i = 0; i < 8; ++i) {
    history.allocate(timeline, 0, {1, 64});
  }
  timeline.reach(10 * timeline.width_ns());
  history.note_survivor(0, 2);
  history.note_survivor(9 * timeline.width_ns(), 3);
  EXPECT_EQ(history.survivors()[0], 2U);
  EXPECT_EQ(history.survivors()[9], 3U);
  history.forget_survivors();
  EXPECT_EQ(history.survivors(), SiteHistory::Intervals{});
}

}  // namespace
}  // namespace memtrace::site_history_test
