#include "support/event_script.h"

namespace memtrace::test {
namespace {

Step asked(const std::string& function, std::uint64_t bytes, std::uint32_t stack = 1) {
  Step step = heap_call(function, {.bytes = bytes, .stack_pointer = 0x7000});
  step.stack = stack;
  return step;
}

TEST(MallocView, adds_up_calls_and_bytes_by_stack) {
  EventScript script("malloc");
  script.play({asked("malloc", 10), asked("malloc", 30), asked("calloc", 5, 2)});
  const Report report = script.finish();
  EXPECT_EQ(figure(report, {stack(1)}, "count"), number(2));
  EXPECT_EQ(figure(report, {stack(1)}, "bytes"), number(40));
  EXPECT_EQ(figure(report, {stack(1)}, "avg_bytes"), number(20));
  EXPECT_EQ(figure(report, {stack(1)}, "max_bytes"), number(30));
  EXPECT_EQ(figure(report, {stack(2)}, "bytes"), number(5));
  EXPECT_EQ(total(report, "count"), 3U);
  EXPECT_EQ(total(report, "bytes"), 45U);
}

TEST(MallocView, trace_has_a_line_for_each_call_and_free) {
  EventScript script("malloc", {.own = {{"trace", "1"}}});
  script.add_field("memtrace_heap_1:malloc_ret", "result");
  ASSERT_TRUE(script.check().ok());
  script.play(heap_alloc(0x10, 60));
  script.play(heap_alloc(0, 70));
  script.play({heap_free(0x10), heap_free(0)});
  const Table lines = script.lines();
  ASSERT_EQ(lines.rows.size(), 3U) << "free(NULL) frees nothing";
  const auto at = [&lines](std::size_t row, std::string_view column) {
    return lines.rows[row][column_index(lines, column)];
  };
  EXPECT_EQ(at(0, "function"), text("malloc"));
  EXPECT_EQ(at(0, "bytes"), number(60));
  EXPECT_EQ(at(0, "address"), number(0x10));
  EXPECT_EQ(at(0, "result"), text("ok"));
  EXPECT_EQ(at(1, "result"), text("failed"));
  EXPECT_EQ(at(1, "address"), Cell());
  EXPECT_EQ(at(2, "function"), text("free"));
  EXPECT_EQ(at(2, "address"), number(0x10));
  EXPECT_EQ(at(2, "result"), text("freed"));
  EXPECT_EQ(total(script.finish(), "count"), 2U) << "the report counts them all the same";
}

TEST(MallocView, names_the_functions_and_joins_those_of_several_allocators) {
  EventScript script("malloc", {.by = {"function"}});
  script.play({asked("malloc", 1), asked("malloc_2", 2), asked("aligned_alloc", 4)});
  const Report report = script.finish();
  EXPECT_EQ(figure(report, {text("malloc")}, "bytes"), number(3));
  EXPECT_EQ(figure(report, {text("aligned_alloc")}, "bytes"), number(4));
}

TEST(MallocView, leaves_out_frees_and_counts_no_call_twice_at_its_return) {
  EventScript script("malloc");
  script.play(heap_alloc(0x10, 64));
  script.play(heap_free(0x10));
  EXPECT_EQ(total(script.finish(), "count"), 1U);
}

TEST(MallocView, counts_returns_where_only_they_were_probed) {
  EventScript script("malloc", {.by = {"function", "size"}});
  Step ended = heap_return("malloc", 0x10);
  ended.payload = HeapReturn{.address = 0x10, .usable_bytes = 24};
  script.play(ended);
  EXPECT_EQ(figure(script.finish(), {text("malloc"), number(24)}, "count"), number(1));
}

TEST(MallocView, sizes_are_distributed_in_each_row_if_asked) {
  EventScript script("malloc", {.own = {{"hist", "1"}}});
  script.play({asked("malloc", 10), asked("malloc", 30), asked("calloc", 5, 2)});
  const auto histograms = script.finish().tables[0].histograms;
  ASSERT_EQ(histograms.size(), 2U);
  EXPECT_EQ(histograms[0].keys, (std::vector<Cell>{stack(1)}));
  ASSERT_EQ(histograms[0].histogram.buckets.size(), 2U);
  EXPECT_EQ(histograms[0].histogram.buckets[1].low, 16U);
}

TEST(MallocView, calls_that_no_allocator_can_serve_have_no_bytes) {
  EventScript script("malloc");
  script.play({asked("malloc", std::uint64_t{1} << 60U), asked("malloc", 100)});
  const Report report = script.finish();
  EXPECT_EQ(total(report, "count"), 2U);
  EXPECT_EQ(total(report, "bytes"), 100U);
  EXPECT_EQ(total(report, "failed"), 1U);
  EXPECT_EQ(figure(report, {stack(1)}, "avg_bytes"), number(100));
  EXPECT_EQ(figure(report, {stack(1)}, "failed"), number(1));
}

TEST(MallocView, calls_whose_return_tells_that_they_failed_have_no_bytes) {
  EventScript script("malloc");
  script.add_field("memtrace_heap_1:malloc_ret", "result");
  ASSERT_TRUE(script.check().ok());
  script.play(heap_alloc(0, 4096));   // refused
  script.play(heap_alloc(0x10, 64));  // served
  script.play(heap_alloc(0, 0));      // null, and nothing was asked for
  script.play(asked("malloc", 32));   // its return was not seen
  const Report report = script.finish();
  EXPECT_EQ(total(report, "count"), 4U);
  EXPECT_EQ(total(report, "bytes"), 96U);
  EXPECT_EQ(total(report, "failed"), 1U);
}

TEST(MallocView, a_call_that_goes_on_in_another_function_counts_once) {
  EventScript script("malloc", {.by = {"function"}});
  Step outer = asked("calloc", 30);
  outer.payload = HeapCall{.bytes = 30, .stack_pointer = 0x7000, .has_inner = true};
  Step inner = asked("malloc", 30);
  inner.payload = HeapCall{.bytes = 30, .stack_pointer = 0x6fe8};
  Step again{.event = "memtrace_heap_1:malloc_again", .payload = HeapAgain{.bytes = 40}};
  script.play({outer, inner, asked("malloc", 40), again, asked("malloc", 40)});
  const Report report = script.finish();
  EXPECT_EQ(total(report, "count"), 2U);
  EXPECT_EQ(figure(report, {text("calloc")}, "bytes"), number(30));
  EXPECT_EQ(figure(report, {text("malloc")}, "bytes"), number(40));
}

TEST(MallocView, scales_by_the_period) {
  EventScript script("malloc");
  Step step = asked("malloc", 8);
  step.weight = 100;
  script.play(step);
  EXPECT_EQ(figure(script.finish(), {stack(1)}, "bytes"), number(800));
}

TEST(MallocView, keeps_to_the_size_limits) {
  EventScript script("malloc", {.own = {{"min-bytes", "16"}, {"max-bytes", "1K"}}});
  script.play({asked("malloc", 15), asked("malloc", 16), asked("malloc", 1024)});
  script.play(asked("malloc", 1025));
  EXPECT_EQ(total(script.finish(), "bytes"), 1040U);
}

TEST(MallocView, distributes_sizes_by_powers_of_two) {
  EventScript script("malloc");
  script.play({asked("malloc", 3), asked("malloc", 8), asked("malloc", 15)});
  const Histogram sizes = script.finish().histograms.at(0);
  ASSERT_EQ(sizes.buckets.size(), 3U);
  EXPECT_EQ(sizes.buckets[0].low, 2U);
  EXPECT_EQ(sizes.buckets[1].count, 0U);
  EXPECT_EQ(sizes.buckets[2].low, 8U);
  EXPECT_EQ(sizes.buckets[2].high, 15U);
  EXPECT_EQ(sizes.buckets[2].count, 2U);
}

TEST(MallocView, distributes_sizes_in_equal_steps_when_asked) {
  EventScript script("malloc", {.own = {{"linear", "100"}}});
  script.play({asked("malloc", 99), asked("malloc", 100), asked("malloc", 250)});
  const Histogram sizes = script.finish().histograms.at(0);
  ASSERT_EQ(sizes.buckets.size(), 3U);
  EXPECT_EQ(sizes.buckets[1].low, 100U);
  EXPECT_EQ(sizes.buckets[1].high, 199U);
}

TEST(MallocView, range_groups_sizes_by_powers_of_two) {
  EventScript script("malloc", {.by = {"range"}});
  script.play({asked("malloc", 64), asked("malloc", 127), asked("malloc", 0)});
  const Report report = script.finish();
  EXPECT_EQ(figure(report, {text("64-127")}, "count"), number(2));
  EXPECT_EQ(figure(report, {text("0")}, "count"), number(1));
}

TEST(MallocView, an_interval_begins_with_nothing) {
  EventScript script("malloc");
  script.play(asked("malloc", 64));
  script.finish();
  const Report second = script.finish();
  EXPECT_EQ(total(second, "count"), 0U);
  EXPECT_TRUE(second.histograms.empty());
}

TEST(MallocView, a_size_that_is_none_is_a_usage_error) {
  const auto made = find_view("malloc")->spec.make({.own = {{"min-bytes", "many"}}});
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.error().kind, ErrorKind::Usage);
}

}  // namespace
}  // namespace memtrace::test
