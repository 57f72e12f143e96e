#include "support/call_script.h"

namespace memtrace::test::brk_view_test {
namespace {

constexpr std::uint64_t kHeap = 0x555500000000;

std::vector<Step> brk(std::uint64_t asked, std::uint64_t top, const CallAt& when = {}) {
  return system_call(
      "brk", {.call = SystemCall::Brk, .arguments = {asked}}, static_cast<std::int64_t>(top), when);
}

Cell signed_number(std::int64_t value) {
  return value;
}

TEST(BrkView, queries_are_no_growth) {
  EventScript script("brk");
  script.play(brk(0, kHeap));
  script.play(brk(0, kHeap, {.stack = 2}));
  const Report report = script.finish();
  EXPECT_EQ(total(report, "queries"), 2U);
  EXPECT_EQ(total(report, "grows"), 0U);
  EXPECT_EQ(total(report, "grown"), 0U);
  EXPECT_EQ(figure(report, {stack(2)}, "queries"), number(1));
}

TEST(BrkView, growth_and_shrinking_are_told_in_bytes) {
  EventScript script("brk");
  script.play(brk(0, kHeap));
  script.play(brk(kHeap + 1000, kHeap + 1000, {.stack = 2}));
  script.play(brk(kHeap + 5000, kHeap + 5000, {.stack = 2}));
  script.play(brk(kHeap + 3000, kHeap + 3000, {.stack = 3}));
  const Report report = script.finish();
  EXPECT_EQ(figure(report, {stack(2)}, "grows"), number(2));
  EXPECT_EQ(figure(report, {stack(2)}, "grown"), number(5000));
  EXPECT_EQ(figure(report, {stack(3)}, "shrunk"), number(2000));
  EXPECT_EQ(figure(report, {stack(3)}, "net"), signed_number(-2000));
  EXPECT_TRUE(report.caveats.notes.empty());
}

TEST(BrkView, a_call_that_was_refused_moves_nothing) {
  EventScript script("brk");
  script.play(brk(0, kHeap));
  script.play(brk(kHeap + 1000, kHeap, {.stack = 2}));
  const Report report = script.finish();
  EXPECT_EQ(figure(report, {stack(2)}, "failed"), number(1));
  EXPECT_EQ(figure(report, {stack(2)}, "grows"), number(0));
}

TEST(BrkView, processes_have_heaps_of_their_own_and_children_their_parents) {
  ViewOptions options;
  options.by = {"pid"};
  EventScript script("brk", options);
  script.play(brk(0, kHeap));
  script.world().fork({.pid = 200, .parent_pid = 100, .tid = 200, .parent_tid = 100});
  script.play(brk(kHeap + 1000, kHeap + 1000, {.tid = 200, .pid = 200}));
  script.play(brk(kHeap + 300, kHeap + 300));
  const Report report = script.finish();
  EXPECT_EQ(figure(report, {number(200)}, "grown"), number(1000));
  EXPECT_EQ(figure(report, {number(100)}, "grown"), number(300));
}

TEST(BrkView, the_heap_of_a_process_that_ran_already_is_known_from_its_mappings) {
  EventScript script("brk");
  announce(script, {.start = kHeap, .bytes = 8192, .path = "[heap]"});
  script.play(brk(kHeap + 8192 + 4096, kHeap + 8192 + 4096));
  EXPECT_EQ(total(script.finish(), "grown"), 4096U);
}

TEST(BrkView, what_cannot_be_known_is_told) {
  EventScript script("brk");
  script.play(brk(kHeap + 4096, kHeap + 4096));
  const Report report = script.finish();
  EXPECT_EQ(total(report, "grown"), 0U);
  EXPECT_TRUE(has_note(report, "1 call moved the end of the heap by an unknown amount"));
}

TEST(BrkView, the_trace_has_a_line_for_each_call) {
  ViewOptions options;
  options.own["trace"] = "1";
  EventScript script("brk", options);
  script.play(brk(0, kHeap));
  script.play(brk(kHeap + 4096, kHeap + 4096));
  script.play(brk(kHeap, kHeap));
  const Table trace = script.lines();
  ASSERT_EQ(trace.rows.size(), 3U);
  EXPECT_EQ(trace.rows[0][column_index(trace, "asked")], Cell());
  EXPECT_EQ(trace.rows[1][column_index(trace, "grown")], signed_number(4096));
  EXPECT_EQ(trace.rows[2][column_index(trace, "grown")], signed_number(-4096));
  EXPECT_EQ(trace.rows[2][column_index(trace, "top")], number(kHeap));
}

}  // namespace
}  // namespace memtrace::test::brk_view_test
