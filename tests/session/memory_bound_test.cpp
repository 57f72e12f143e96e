#include "session/memory_bound.h"

#include <gtest/gtest.h>

namespace memtrace {
namespace {

bool is_reached_soon(MemoryBound& bound) {
  bool reached = false;
  for (int record = 0; record < 10'000; ++record) {
    reached = bound.reached() || reached;
  }
  return reached;
}

TEST(MemoryBound, is_reached_once) {
  MemoryBound bound(1000, [] { return std::uint64_t{1000}; });
  EXPECT_TRUE(is_reached_soon(bound));
  EXPECT_TRUE(bound.was_reached());
  EXPECT_FALSE(is_reached_soon(bound));
}

TEST(MemoryBound, is_not_reached_below_or_without_one) {
  MemoryBound higher(1001, [] { return std::uint64_t{1000}; });
  MemoryBound none(0, [] { return std::uint64_t{1000}; });
  EXPECT_FALSE(is_reached_soon(higher));
  EXPECT_FALSE(is_reached_soon(none));
}

TEST(MemoryBound, says_what_was_left_out) {
  MemoryBound bound(std::uint64_t{512} << 20U, [] { return ~std::uint64_t{0}; });
  bound.leave_out();  // before that: the window of --until had ended
  ASSERT_TRUE(is_reached_soon(bound));
  bound.leave_out();
  EXPECT_EQ(
      bound.note(12'300'000'000),
      "memory is short: the tables reached 512.0 MiB (--max-memory) after 12.30 s, and the report "
      "ends there; 1 later event was left out; one view, --since, --until or --pid needs less");
}

}  // namespace
}  // namespace memtrace
