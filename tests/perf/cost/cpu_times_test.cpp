// What the machine, the watched programs and memtrace itself have used.
#include "perf/cost/cpu_times.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>

#include "os/system.h"

namespace memtrace::cpu_times_test {
namespace {

constexpr std::uint64_t kSpinNs = 30'000'000;

void spin() {
  const std::uint64_t end_ns = monotonic_ns() + kSpinNs;
  while (monotonic_ns() < end_ns) {
  }
}

// user nice system idle iowait irq softirq steal guest guest_nice (proc(5)).
TEST(CpuTimesTest, idle_and_waiting_for_disks_is_not_busy_and_guests_count_once) {
  const MachineTimes times =
      parse_machine_times("cpu  100 20 30 4000 500 6 7 8 90 10\ncpu0 1 1 1 1 1 1 1 1 1 1\n");
  EXPECT_EQ(times.busy_ticks, 171U);
  EXPECT_EQ(times.idle_ticks, 4500U);
}

TEST(CpuTimesTest, a_kernel_with_fewer_columns_is_read_as_well) {
  const MachineTimes times = parse_machine_times("cpu  1 2 3 4\n");
  EXPECT_EQ(times.busy_ticks, 6U);
  EXPECT_EQ(times.idle_ticks, 4U);
  EXPECT_EQ(parse_machine_times("").busy_ticks, 0U);
}

// task-clock may be opened by who may watch himself, which a container can forbid.
TEST(CpuTimesTest, a_thread_that_spins_has_used_its_time) {
  const auto self = std::to_array<std::int32_t>({::gettid()});
  CpuTimesReader reader(self, false);
  spin();
  const CpuTimes times = reader.take();
  if (times.watched_ns == 0) {
    GTEST_SKIP() << "task-clock cannot be opened here";
  }
  EXPECT_GT(times.watched_ns, kSpinNs / 20);
  EXPECT_GT(times.own_ns, kSpinNs / 20);
  EXPECT_LE(times.lost_by_own, 1.0);
  EXPECT_GT(times.lost_by_own, 0.0);
}

}  // namespace
}  // namespace memtrace::cpu_times_test
