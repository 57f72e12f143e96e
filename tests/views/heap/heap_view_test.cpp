#include "support/event_script.h"

namespace memtrace::test {
namespace {

TEST(Heap, has_heaptracks_four_costs_by_stack) {
  EventScript script("heap");
  script.play(heap_alloc(0x10, 100, 1));
  script.play(heap_alloc(0x20, 50, 2));
  script.play(heap_free(0x20));
  script.play(heap_alloc(0x30, 10, 1));
  const Report report = script.finish();
  EXPECT_EQ(figure(report, {stack(1)}, "allocs"), number(2));
  EXPECT_EQ(figure(report, {stack(1)}, "bytes"), number(110));
  EXPECT_EQ(figure(report, {stack(1)}, "leaked"), number(110));
  EXPECT_EQ(figure(report, {stack(1)}, "leaked_count"), number(2));
  EXPECT_EQ(figure(report, {stack(1)}, "temporary"), number(0));
  EXPECT_EQ(figure(report, {stack(2)}, "temporary"), number(1));
  EXPECT_EQ(figure(report, {stack(2)}, "leaked"), number(0));
  EXPECT_EQ(total(report, "peak"), 150U);
}

TEST(Heap, what_a_program_had_when_it_became_another_is_not_leaked) {
  EventScript script("heap");
  script.play(heap_alloc(0x10, 100, 1));
  script.world().exec(100);
  script.play(heap_alloc(0x10, 30, 2));
  const Report report = script.finish();
  EXPECT_EQ(figure(report, {stack(1)}, "leaked"), number(0));
  EXPECT_EQ(figure(report, {stack(2)}, "leaked_count"), number(1));
  EXPECT_EQ(total(report, "leaked"), 30U);
  EXPECT_EQ(total(report, "leaked_count"), 1U);
}

TEST(Heap, block_whose_free_was_lost_is_not_leaked_when_its_address_is_another) {
  EventScript script("heap");
  script.play(heap_alloc(0x10, 100, 1));
  script.play(heap_alloc(0x10, 30, 2));
  EXPECT_EQ(total(script.finish(), "leaked"), 30U);
}

TEST(Heap, peak_is_what_each_stack_had_when_all_together_had_most) {
  EventScript script("heap");
  script.play(heap_alloc(0x10, 100, 1));
  script.play(heap_alloc(0x20, 70, 2));  // 170: the peak
  script.play(heap_free(0x10));
  script.play(heap_alloc(0x30, 60, 3));
  script.play(heap_alloc(0x40, 30, 2));  // 160: stack 2 has its own most, but not all together
  const Report report = script.finish();
  EXPECT_EQ(figure(report, {stack(1)}, "peak"), number(100));
  EXPECT_EQ(figure(report, {stack(2)}, "peak"), number(70));
  EXPECT_EQ(figure(report, {stack(3)}, "peak"), number(0));
  EXPECT_EQ(total(report, "peak"), 170U);
}

TEST(Heap, a_later_higher_peak_replaces_the_first_in_all_rows) {
  EventScript script("heap");
  script.play(heap_alloc(0x10, 100, 1));
  script.play(heap_alloc(0x20, 70, 2));
  script.play(heap_free(0x20));
  script.play(heap_alloc(0x30, 200, 3));  // 300; stack 1 was not touched since the first peak
  const Report report = script.finish();
  EXPECT_EQ(figure(report, {stack(1)}, "peak"), number(100));
  EXPECT_EQ(figure(report, {stack(2)}, "peak"), number(0));
  EXPECT_EQ(figure(report, {stack(3)}, "peak"), number(200));
}

TEST(Heap, rows_add_up_to_the_peak_for_any_sequence) {
  EventScript script("heap");
  std::uint32_t state = 1;
  for (std::uint32_t i = 0; i < 2000; ++i) {
    state = state * 1664525U + 1013904223U;
    const std::uint64_t address = 0x1000 + (state >> 8U) % 50 * 0x10;
    script.play(heap_free(address));
    script.play(
        heap_alloc(address, (state >> 16U) % 1000 * ((i / 500) % 2), (state >> 4U) % 7 + 1));
  }
  const Report report = script.finish();
  const std::size_t peak = column_index(report.tables[0], "peak");
  std::uint64_t sum = 0;
  for (const auto& row : report.tables[0].rows) {
    sum += std::get<std::uint64_t>(row[peak]);
  }
  EXPECT_EQ(sum, total(report, "peak"));
}

TEST(Heap, a_block_is_temporary_when_its_thread_allocated_nothing_in_between) {
  EventScript script("heap");
  std::vector<Step> other = heap_alloc(0x20, 8, 2);
  other[0].tid = other[1].tid = 101;
  script.play(heap_alloc(0x10, 8, 1));
  script.play(other);  // another thread's does not matter
  script.play(heap_free(0x10));
  script.play(heap_alloc(0x30, 8, 3));
  script.play(heap_alloc(0x40, 8, 3));
  script.play(heap_free(0x30));
  const Report report = script.finish();
  EXPECT_EQ(figure(report, {stack(1)}, "temporary"), number(1));
  EXPECT_EQ(figure(report, {stack(3)}, "temporary"), number(0));
}

TEST(Heap, realloc_is_an_allocation_that_ends_the_old_block) {
  EventScript script("heap");
  script.play(heap_alloc(0x10, 64, 1));
  script.play(heap_realloc(0x10, 0x20, 128, 2));
  const Report report = script.finish();
  EXPECT_EQ(figure(report, {stack(1)}, "leaked"), number(0));
  EXPECT_EQ(figure(report, {stack(2)}, "leaked"), number(128));
  EXPECT_EQ(total(report, "allocs"), 2U);
  EXPECT_EQ(total(report, "peak"), 128U);
}

TEST(Heap, a_child_freeing_an_inherited_block_takes_nothing_from_the_parent) {
  EventScript script("heap");
  script.play(heap_alloc(0x10, 64, 1));
  script.world().fork({.pid = 200, .parent_pid = 100, .tid = 200, .parent_tid = 100});
  Step free = heap_free(0x10);
  free.pid = 200;
  script.play(free);
  EXPECT_EQ(figure(script.finish(), {stack(1)}, "leaked"), number(64));
}

TEST(Heap, shows_sizes_lifetimes_and_what_was_consumed_over_time) {
  EventScript script("heap");
  script.play(heap_alloc(0x10, 100, 1, 1'000'000));
  Step free = heap_free(0x10);
  free.at_ns = 1'000'900;
  script.play(free);
  script.play(heap_alloc(0x20, 7, 1, 900'000'000));
  const Report report = script.finish();
  EXPECT_EQ(report.histograms.at(0).buckets.back().low, 64U);
  EXPECT_EQ(report.histograms.at(1).buckets.at(0).low, 512U);
  ASSERT_EQ(report.series.at(0).points.size(), 2U);
  EXPECT_EQ(report.series[0].points[0].second, 100U);
  EXPECT_EQ(report.series[0].points[1].second, 7U);
  EXPECT_EQ(total(report, "allocs_per_s"), 2U);
}

}  // namespace
}  // namespace memtrace::test
