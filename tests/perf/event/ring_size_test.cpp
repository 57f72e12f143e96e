#include "perf/event/ring_size.h"

#include <gtest/gtest.h>

namespace memtrace {
namespace {

TEST(RingSize, rings_are_large_but_no_burden) {
  constexpr std::uint64_t kGib = std::uint64_t{1} << 30U;
  EXPECT_EQ(default_ring_bytes(24 * kGib, 2, StackCopies::None), std::size_t{64} << 20U);
  EXPECT_EQ(default_ring_bytes(256 * kGib, 128, StackCopies::None), std::size_t{32} << 20U);
  EXPECT_EQ(default_ring_bytes(kGib / 4, 2, StackCopies::None), std::size_t{2} << 20U);
  EXPECT_EQ(default_ring_bytes(0, 64, StackCopies::None), std::size_t{64} << 10U);
  EXPECT_EQ(queue_limit_bytes(24 * kGib), 2 * kGib);
  EXPECT_EQ(queue_limit_bytes(kGib / 2), kGib / 24);
  EXPECT_EQ(queue_limit_bytes(0), std::size_t{16} << 20U);
}

TEST(RingSize, rings_for_copied_stacks_are_larger) {
  constexpr std::uint64_t kGib = std::uint64_t{1} << 30U;
  EXPECT_EQ(default_ring_bytes(24 * kGib, 2, StackCopies::Many), std::size_t{256} << 20U);
  EXPECT_EQ(default_ring_bytes(256 * kGib, 64, StackCopies::Many), std::size_t{128} << 20U);
  EXPECT_EQ(default_ring_bytes(2 * kGib, 2, StackCopies::Many), std::size_t{64} << 20U);
  EXPECT_EQ(default_ring_bytes(kGib / 4, 2, StackCopies::Many), std::size_t{8} << 20U);
  EXPECT_EQ(default_ring_bytes(24 * kGib, 2, StackCopies::Some), std::size_t{64} << 20U);
  EXPECT_EQ(default_ring_bytes(2 * kGib, 2, StackCopies::Some), std::size_t{32} << 20U);
}

// The kernel clears a ring's memory when it is mapped.
TEST(RingSize, a_share_of_the_time_needs_smaller_rings) {
  EventSetup setup;
  setup.attrs.call_graph = {.kernel = false, .user = true, .stack_bytes = 8192};
  setup.events = {{.info = {.name = "memtrace_heap_1:malloc"}, .probed_file = "/lib/libc.so.6"}};
  const auto whole = choose_ring_bytes(setup, 1);
  setup.events.push_back(setup.events.front());
  setup.events.back().info.window_share = 32;
  const auto limited = choose_ring_bytes(setup, 1);
  ASSERT_TRUE(whole.ok() && limited.ok());
  EXPECT_LT(limited.value(), whole.value());
  EXPECT_LE(limited.value(), std::size_t{64} << 20U);
}

}  // namespace
}  // namespace memtrace
