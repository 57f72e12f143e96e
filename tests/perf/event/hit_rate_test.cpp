#include "perf/event/hit_rate.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include "os/system.h"

namespace memtrace {
namespace {

// Each counter has been hit 100 times.
class Counters final : public PerfCalls {
 public:
  int open(perf_event_attr& attr, Place place, unsigned long /*flags*/) const override {
    EXPECT_EQ(attr.sample_period, 0U);
    EXPECT_EQ(attr.sample_type, 0U);
    EXPECT_EQ(attr.disabled, 1U);
    EXPECT_EQ(place.tid, -1);
    EXPECT_GE(place.cpu, 0);
    ++opened;
    return ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  }

  int control(int /*fd*/, unsigned long request, unsigned long /*argument*/) const override {
    enabled += request == PERF_EVENT_IOC_ENABLE ? 1 : 0;
    disabled += request == PERF_EVENT_IOC_DISABLE ? 1 : 0;
    return 0;
  }

  ssize_t read(int /*fd*/, std::span<std::uint64_t> values) const override {
    values[0] = 100;
    return sizeof(values[0]);
  }

  mutable std::size_t opened = 0, enabled = 0, disabled = 0;
};

TEST(HitRateTest, counts_every_event_on_every_cpu_without_samples) {
  const std::size_t cpus = online_cpus().value().size();
  const std::vector<EventRequest> events(3,
                                         {.info = {.name = "p:malloc"}, .type = kTypeTracepoint});
  const Counters counters;
  const auto rate = count_hits(events, std::chrono::milliseconds(1), counters);
  ASSERT_TRUE(rate.ok());
  EXPECT_EQ(rate.value().hits, 300 * cpus);
  EXPECT_GE(rate.value().span, std::chrono::milliseconds(1));
  EXPECT_EQ(counters.opened, 3 * cpus);
  EXPECT_EQ(counters.enabled, 3 * cpus);
  EXPECT_EQ(counters.disabled, 3 * cpus);
}

TEST(HitRateTest, counts_probes_that_are_one_event_of_the_kernels_once) {
  const std::size_t cpus = online_cpus().value().size();
  std::vector<EventRequest> events(4, {.info = {.name = "p:malloc"}, .type = kTypeTracepoint});
  events[1].shared = SharedProbe{.tracepoint_id = 1700, .number = 0};
  events[2].shared = SharedProbe{.tracepoint_id = 1701, .number = 0};
  events[3].shared = SharedProbe{.tracepoint_id = 1700, .number = 1};
  const Counters counters;
  const auto rate = count_hits(events, std::chrono::milliseconds(1), counters);
  ASSERT_TRUE(rate.ok());
  EXPECT_EQ(counters.opened, 3 * cpus);
  EXPECT_EQ(rate.value().hits, 300 * cpus);
}

TEST(HitRateTest, is_told_by_the_second) {
  EXPECT_EQ((HitRate{.hits = 300, .span = std::chrono::milliseconds(500)}.per_second()), 600U);
  EXPECT_EQ(HitRate{}.per_second(), 0U);
}

}  // namespace
}  // namespace memtrace
