// Memory that programs map themselves, beside blocks of malloc.
#include "live/heap_live_test.h"

namespace memtrace::test {
namespace {

class HeapMappingsTest : public HeapLiveTest {
 protected:
  void SetUp() override {
    HeapLiveTest::SetUp();
    if (!IsSkipped() && !std::filesystem::exists("/sys/kernel/tracing/events/syscalls")) {
      GTEST_SKIP() << "this kernel was built without events of system calls";
    }
  }

  static void expect_all(const Json& leaks) {
    EXPECT_EQ(leak_at(leaks, "map_whole"), (Leak{3, 120 * kPageBytes}));
    EXPECT_EQ(leak_at(leaks, "map_partly"), (Leak{2, 60 * kPageBytes}));
    EXPECT_EQ(leak_at(leaks, "map_hole"), (Leak{1, 32 * kPageBytes}));
    EXPECT_EQ(leak_at(leaks, "map_over"), (Leak{2, 40 * kPageBytes}));
    EXPECT_EQ(leak_at(leaks, "map_and_grow"), (Leak{1, 100 * kPageBytes}));
    EXPECT_EQ(leak_at(leaks, "map_and_shrink"), (Leak{1, 20 * kPageBytes}));
    EXPECT_EQ(leak_at(leaks, "map_too_much"), (Leak{0, 0}));
    EXPECT_EQ(leak_at(leaks, "break_itself"), (Leak{1, 3 * kPageBytes}));
    EXPECT_EQ(sum_with_function(leaks, "(anonymous namespace)::leak_large_blocks", "bytes"),
              5U * 200'000);
    EXPECT_EQ(lost_in(leaks), 0U);
  }
};

TEST_F(HeapMappingsTest, ranges_are_exact_and_an_allocators_own_are_not_counted_twice) {
  run_well("$MEMTRACE record --for malloc,leaks,heap -- $PUPPETS/map_patterns");
  expect_all(report("leaks --top 0"));
  const Json functions = report("leaks --by function --top 0");
  EXPECT_EQ(figure_of(functions, "function", "mmap"), 8U);
  EXPECT_EQ(figure_of(functions, "function", "mremap"), 2U);
  EXPECT_EQ(figure_of(functions, "function", "brk"), 1U);
  const Json calls = report("malloc --by function --top 0");
  EXPECT_EQ(figure_of(calls, "function", "mmap"), 12U);
  EXPECT_EQ(figure_of(calls, "function", "mremap"), 2U);
  EXPECT_EQ(figure_of(calls, "function", "brk"), 1U);
  const Json heap = report("heap --by function --top 0");
  const std::uint64_t leaked = report("leaks --top 0").at("totals").at("bytes");
  EXPECT_EQ(heap.at("totals").at("leaked"), leaked);
  EXPECT_EQ(figure_of(heap, "function", "mmap", "leaked_count"), 8U);
}

TEST_F(HeapMappingsTest, calls_alone_are_told_apart_by_their_stacks) {
  run_well("$MEMTRACE record --for malloc -- $PUPPETS/map_patterns");
  const Json calls = report("malloc --by function --top 0");
  EXPECT_EQ(figure_of(calls, "function", "mmap"), 12U);
  EXPECT_EQ(figure_of(calls, "function", "brk"), 1U);
  EXPECT_GE(figure_of(calls, "function", "malloc"), 20U);
}

TEST_F(HeapMappingsTest, the_live_view_agrees) {
  expect_all(json_of("$MEMTRACE leaks --format json --top 0 -- $PUPPETS/map_patterns"));
}

}  // namespace
}  // namespace memtrace::test
