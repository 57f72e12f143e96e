#include "perf/pace/event_gates.h"

#include <gtest/gtest.h>

#include "os/system.h"
#include "support/simulated_kernel.h"

namespace memtrace::event_gates_test {
namespace {

using test::KernelModel;
using test::SimulatedKernel;

constexpr KernelModel kKernel{.name = "6.18",
                              .attr_bytes = 136,
                              .flag_bits = 39,
                              .sample_bits = 25,
                              .read_bits = 5,
                              .software_events = 12};

// A file that is rotated takes them while a window is open.
TEST(EventGatesTest, windows_may_be_taken_at_any_moment) {
  SimulatedKernel kernel(kKernel);
  const auto set = EventSet::open(
      {.events = {{.info = {.name = "kmem:kmalloc", .kind = EventKind::Tracepoint, .config = 7},
                   .type = kTypeTracepoint}},
       .attrs = {},
       .tids = {1},
       .ring_bytes = std::size_t{64} << 10U,
       .calls = &kernel});
  ASSERT_TRUE(set.ok());
  SampleSpans spans;
  EventGates gates(set.value(), spans);
  const auto event = static_cast<std::uint32_t>(set.value().events().size() - 1);
  ASSERT_TRUE(gates.start({{.event = event, .share = 4}}, false).ok());
  std::vector<WatchedWindow> windows;
  const std::uint64_t end_ns = monotonic_ns() + 5'000'000'000;
  while (windows.size() < 2 && monotonic_ns() < end_ns) {
    for (const WatchedWindow& window : gates.take_windows()) {
      windows.push_back(window);
    }
  }
  gates.stop();
  ASSERT_EQ(windows.size(), 2U);
  EXPECT_EQ(windows[0].share, 4U);
  EXPECT_EQ(windows[0].length_ns, 25'000'000U);
  EXPECT_GE(windows[1].from_ns, windows[0].from_ns + windows[0].length_ns);
}

}  // namespace
}  // namespace memtrace::event_gates_test
