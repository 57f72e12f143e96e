#include "plan/events/kernel_counting.h"

#include <gtest/gtest.h>

#include <vector>

namespace memtrace::test::kernel_counting_test {
namespace {

bool is_counted(EventRequest request) {
  count_in_kernel(std::span(&request, 1));
  return request.count_only;
}

EventRequest tracepoint(const char* name) {
  return {.info = {.name = name, .kind = EventKind::Tracepoint, .period = 1},
          .type = kTypeTracepoint};
}

TEST(KernelCountingTest, event_whose_samples_would_be_only_added_up_is_counted) {
  EXPECT_TRUE(is_counted(tracepoint("kmem:kmalloc")));
  EXPECT_TRUE(is_counted({.info = {.name = "page-faults", .period = 1}, .type = kTypeSoftware}));
}

TEST(KernelCountingTest, samples_that_are_left_out_or_told_apart_here_are_needed) {
  EventRequest filtered = tracepoint("kmem:kmalloc");
  filtered.filter_children = true;
  EXPECT_FALSE(is_counted(filtered));
  EventRequest probe = tracepoint("memtrace:probe");
  probe.pmu_probe.emplace();
  EXPECT_FALSE(is_counted(probe));
  EventRequest shared = tracepoint("memtrace:shared");
  shared.shared.emplace();
  EXPECT_FALSE(is_counted(shared));
  EXPECT_FALSE(is_counted(tracepoint("raw_syscalls:sys_enter")));
}

TEST(KernelCountingTest, one_in_n_is_sampled) {
  EventRequest request = tracepoint("kmem:kmalloc");
  request.info.period = 10;
  EXPECT_FALSE(is_counted(request));
}

// Of samples they are: the state of the address space is to be known before the first.
TEST(KernelCountingTest, counted_calls_need_not_be_enabled_early) {
  std::vector<EventRequest> requests{tracepoint("syscalls:sys_enter_mmap")};
  requests[0].with_tracking = true;
  count_in_kernel(requests);
  EXPECT_TRUE(requests[0].count_only);
  EXPECT_FALSE(requests[0].with_tracking);
}

}  // namespace
}  // namespace memtrace::test::kernel_counting_test
