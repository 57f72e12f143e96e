#include "perf/event/event_counts.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>

#include "support/simulated_kernel.h"

namespace memtrace::test {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;
constexpr KernelModel kKernel{.name = "6.18",
                              .attr_bytes = 136,
                              .flag_bits = 39,
                              .sample_bits = 25,
                              .read_bits = 5,
                              .software_events = 12};

TEST(EventCountsTest, without_intervals_they_are_read_at_the_end_alone) {
  EventCounts counts(0);
  EXPECT_EQ(counts.take_due(100 * kSecond, 1), std::nullopt);
}

TEST(EventCountsTest, counts_belong_to_the_interval_that_has_ended) {
  EventCounts counts(kSecond);
  const std::uint64_t started_ns = 5 * kSecond;
  EXPECT_EQ(counts.take_due(started_ns + 1, started_ns), std::nullopt);
  EXPECT_EQ(counts.take_due(6 * kSecond - 1, started_ns), std::nullopt);
  EXPECT_EQ(counts.take_due(6 * kSecond + 20, started_ns), 6 * kSecond - 1);
  EXPECT_EQ(counts.take_due(6 * kSecond + 40, started_ns), std::nullopt);
  EXPECT_EQ(counts.take_due(7 * kSecond, started_ns), 7 * kSecond - 1);
}

TEST(EventCountsTest, who_comes_late_gets_the_last_interval_that_has_ended) {
  EventCounts counts(kSecond);
  EXPECT_EQ(counts.take_due(1, 1), std::nullopt);
  EXPECT_EQ(counts.take_due(3 * kSecond + kSecond / 2, 1), 3 * kSecond);
  EXPECT_EQ(counts.take_due(4 * kSecond + 1, 1), 4 * kSecond);
}

TEST(EventCountsTest, without_a_known_start_they_are_read_ten_times_a_second) {
  EventCounts counts(kSecond);
  EXPECT_EQ(counts.take_due(5 * kSecond, 0), std::nullopt);
  EXPECT_EQ(counts.take_due(5 * kSecond + kSecond / 10, 0), 5 * kSecond + kSecond / 10);
}

class CountedEventsTest : public testing::Test {
 protected:
  EventSet open(std::vector<std::int32_t> tids) {
    auto set = EventSet::open(
        {.events = {{.info = {.name = "kmem:kmalloc", .kind = EventKind::Tracepoint, .config = 7},
                     .type = kTypeTracepoint,
                     .count_only = true},
                    {.info = {.name = "kmem:kfree", .kind = EventKind::Tracepoint, .config = 8},
                     .type = kTypeTracepoint}},
         .attrs = {},
         .tids = std::move(tids),
         .ring_bytes = std::size_t{64} << 10U,
         .calls = &kernel_});
    EXPECT_TRUE(set.ok()) << describe(set.error());
    return set.take();
  }

  // What the kernel says from now on of all descriptors of kmalloc, or of our own ones.
  void set_counts(const EventSet& set, std::uint64_t all, std::uint64_t own) {
    for (const OpenedFd& opened : set.fds()) {
      kernel_.set_count(opened.fd.fd(), opened.counts && opened.counts->is_own ? own : all);
    }
  }

  SimulatedKernel kernel_{kKernel};
};

TEST_F(CountedEventsTest, kernel_makes_no_samples_of_a_counted_event) {
  const EventSet set = open({::gettid()});
  EXPECT_EQ(set.events()[1].attr.sample_period, 0U);
  EXPECT_EQ(set.events()[2].attr.sample_period, 1U);
}

TEST_F(CountedEventsTest, counts_are_told_as_they_rise) {
  const EventSet set = open({::gettid()});
  EventCounts counts(0);
  set_counts(set, 5, 0);
  const auto first = counts.read(set.fds());
  ASSERT_EQ(first.size(), set.rings().size()) << "one for each CPU, none of the sampled event";
  EXPECT_EQ(first[0].event, 1U);
  EXPECT_EQ(first[0].count, 5U);
  EXPECT_TRUE(counts.read(set.fds()).empty());
  set_counts(set, 12, 0);
  EXPECT_EQ(counts.read(set.fds())[0].count, 7U);
}

TEST_F(CountedEventsTest, own_part_of_the_whole_machine_is_subtracted) {
  const EventSet set = open({-1});
  EXPECT_EQ(std::ranges::count_if(
                set.fds(), [](const OpenedFd& fd) { return fd.counts && fd.counts->is_own; }),
            static_cast<std::ptrdiff_t>(set.rings().size()));
  EventCounts counts(0);
  set_counts(set, 10, 4);
  EXPECT_EQ(counts.read(set.fds())[0].count, 6U);
  set_counts(set, 12, 7);
  EXPECT_TRUE(counts.read(set.fds()).empty()) << "it waits until the sum has come up";
  set_counts(set, 15, 7);
  EXPECT_EQ(counts.read(set.fds())[0].count, 2U);
}

}  // namespace
}  // namespace memtrace::test
