#include "support/event_script.h"

namespace memtrace::test::leaks_view_test {
namespace {

constexpr std::uint64_t kSecondNs = 1'000'000'000;

TEST(Leaks, shows_what_was_allocated_and_not_freed) {
  EventScript script("leaks");
  script.play(heap_alloc(0x10, 64, 1, 0));
  script.play(heap_alloc(0x20, 32, 1, 4 * kSecondNs));
  script.play(heap_alloc(0x30, 16, 2));
  script.play(heap_free(0x30));
  const Report report = script.finish({.start_ns = 0, .end_ns = 10 * kSecondNs});
  EXPECT_EQ(report.tables[0].rows.size(), 1U);
  EXPECT_EQ(figure(report, {stack(1)}, "count"), number(2));
  EXPECT_EQ(figure(report, {stack(1)}, "bytes"), number(96));
  EXPECT_EQ(figure(report, {stack(1)}, "avg_age_ns"), number(8 * kSecondNs));
  EXPECT_EQ(figure(report, {stack(1)}, "oldest_ns"), number(10 * kSecondNs));
  EXPECT_EQ(total(report, "bytes"), 96U);
}

TEST(Leaks, realloc_moves_a_block_to_its_own_stack) {
  EventScript script("leaks");
  script.play(heap_alloc(0x10, 64, 1));
  script.play(heap_realloc(0x10, 0x20, 128, 2));
  const Report report = script.finish();
  EXPECT_EQ(report.tables[0].rows.size(), 1U);
  EXPECT_EQ(figure(report, {stack(2)}, "bytes"), number(128));
}

TEST(Leaks, a_failed_realloc_keeps_the_old_block) {
  EventScript script("leaks");
  script.play(heap_alloc(0x10, 64, 1));
  script.play(heap_realloc(0x10, 0, 1U << 31U, 2));
  EXPECT_EQ(figure(script.finish(), {stack(1)}, "bytes"), number(64));
}

TEST(Leaks, realloc_to_nothing_frees) {
  EventScript script("leaks");
  script.play(heap_alloc(0x10, 64, 1));
  script.play(heap_realloc(0x10, 0, 0, 2));
  EXPECT_EQ(total(script.finish(), "count"), 0U);
}

TEST(Leaks, the_old_address_may_be_given_out_before_realloc_is_seen_to_return) {
  EventScript script("leaks");
  script.play(heap_alloc(0x10, 64, 1));
  const std::vector<Step> moved = heap_realloc(0x10, 0x20, 128, 2);
  std::vector<Step> other = heap_alloc(0x10, 8, 3);
  other[0].tid = other[1].tid = 101;
  script.play({moved[0], other[0], other[1], moved[1]});
  const Report report = script.finish();
  EXPECT_EQ(figure(report, {stack(2)}, "bytes"), number(128));
  EXPECT_EQ(figure(report, {stack(3)}, "bytes"), number(8));
  EXPECT_EQ(total(report, "count"), 2U);
}

TEST(Leaks, a_call_within_another_counts_for_nobody) {
  EventScript script("leaks", {.by = {"function"}});
  const Step outer = heap_call("posix_memalign", {.bytes = 64, .stack_pointer = 0x7000});
  const Step inner = heap_call("malloc", {.bytes = 128, .stack_pointer = 0x6f00});
  script.play({outer, inner, heap_return("malloc", 0x10), heap_return("posix_memalign", 0x40)});
  const Report report = script.finish();
  EXPECT_EQ(figure(report, {text("posix_memalign")}, "bytes"), number(64));
  EXPECT_EQ(total(report, "count"), 1U);
}

TEST(Leaks, a_call_left_by_longjmp_does_not_swallow_the_next) {
  EventScript script("leaks", {.by = {"function"}});
  script.play(heap_call("posix_memalign", {.bytes = 64, .stack_pointer = 0x6000}));
  script.play(heap_alloc(0x10, 8));  // called from higher up in the stack
  EXPECT_EQ(figure(script.finish(), {text("malloc")}, "bytes"), number(8));
}

TEST(Leaks, threads_do_not_take_each_others_returns) {
  EventScript script("leaks");
  std::vector<Step> first = heap_alloc(0x10, 1, 1);
  std::vector<Step> second = heap_alloc(0x20, 2, 2);
  second[0].tid = second[1].tid = 101;
  script.play({first[0], second[0], first[1], second[1]});
  const Report report = script.finish();
  EXPECT_EQ(figure(report, {stack(1)}, "bytes"), number(1));
  EXPECT_EQ(figure(report, {stack(2)}, "bytes"), number(2));
}

TEST(Leaks, processes_do_not_free_each_others_blocks) {
  EventScript script("leaks");
  script.play(heap_alloc(0x10, 64));
  Step free = heap_free(0x10);
  free.pid = 7;
  script.play(free);
  EXPECT_EQ(total(script.finish(), "count"), 1U);
  EXPECT_EQ(script.world().unmatched_frees(), 1U);
}

TEST(Leaks, a_free_that_another_free_calls_is_one) {
  EventScript script("leaks");
  script.play(heap_alloc(0x10, 64));
  script.play({heap_free(0x10), heap_free(0x10)});
  EXPECT_EQ(total(script.finish(), "count"), 0U);
  EXPECT_EQ(script.world().unmatched_frees(), 0U);
}

TEST(Leaks, what_other_threads_free_meanwhile_does_not_matter) {
  EventScript script("leaks");
  script.play(heap_alloc(0x10, 100));
  script.play(heap_alloc(0x20, 100));
  Step first = heap_free(0x10);
  Step second = heap_free(0x20);
  second.tid = first.tid + 1;
  script.play({first, second, first, second});
  EXPECT_EQ(total(script.finish(), "count"), 0U);
  EXPECT_EQ(script.world().unmatched_frees(), 0U);
  // The address is given out again, and freed by the task that freed it before.
  script.play(heap_alloc(0x10, 100));
  script.play(first);
  EXPECT_EQ(total(script.finish(), "count"), 0U);
}

TEST(Leaks, blocks_from_before_the_recording_are_unmatched_and_never_negative) {
  EventScript script("leaks");
  script.play(heap_free(0x10));
  EXPECT_EQ(total(script.finish(), "count"), 0U);
  EXPECT_EQ(script.world().unmatched_frees(), 1U);
}

TEST(Leaks, a_forked_child_frees_its_own_copy) {
  EventScript script("leaks", {.by = {"pid"}});
  script.play(heap_alloc(0x10, 64));
  script.play(heap_alloc(0x20, 32));
  script.world().fork({.pid = 200, .parent_pid = 100, .tid = 200, .parent_tid = 100});
  Step free = heap_free(0x10);
  free.pid = 200;
  script.play(free);
  const Report report = script.finish();
  EXPECT_EQ(figure(report, {number(100)}, "bytes"), number(96));
  EXPECT_EQ(report.tables[0].rows.size(), 1U);
  EXPECT_EQ(script.world().unmatched_frees(), 0U);
  EXPECT_TRUE(has_note(report, "1 more block of 32 bytes is a copy"));
}

TEST(Leaks, inherited_shows_the_copies_too) {
  EventScript script("leaks", {.by = {"pid"}, .own = {{"inherited", "1"}}});
  script.play(heap_alloc(0x10, 64));
  script.world().fork({.pid = 200, .parent_pid = 100, .tid = 200, .parent_tid = 100});
  script.play(heap_free(0x10));
  const Report report = script.finish();
  EXPECT_EQ(figure(report, {number(200)}, "bytes"), number(64));
  EXPECT_EQ(report.tables[0].rows.size(), 1U);
}

TEST(Leaks, a_grandchild_has_what_its_grandparent_had) {
  EventScript script("leaks", {.by = {"pid"}, .own = {{"inherited", "1"}}});
  script.play(heap_alloc(0x10, 64));
  script.world().fork({.pid = 200, .parent_pid = 100, .tid = 200, .parent_tid = 100});
  script.world().fork({.pid = 300, .parent_pid = 200, .tid = 300, .parent_tid = 200});
  script.play(heap_free(0x10));
  EXPECT_EQ(figure(script.finish(), {number(300)}, "bytes"), number(64));
}

TEST(Leaks, exec_drops_what_was_inherited_and_what_was_there) {
  EventScript script("leaks", {.own = {{"inherited", "1"}}});
  script.play(heap_alloc(0x10, 64));
  script.world().fork({.pid = 200, .parent_pid = 100, .tid = 200, .parent_tid = 100});
  script.world().exec(200);
  EXPECT_EQ(total(script.finish(), "count"), 1U);
  script.world().exec(100);
  EXPECT_EQ(total(script.finish(), "count"), 0U);
}

TEST(Leaks, a_pid_used_again_does_not_hide_what_its_former_process_leaked) {
  EventScript script("leaks");
  Step call = heap_alloc(0x10, 64)[0];
  Step ended = heap_alloc(0x10, 64)[1];
  call.pid = ended.pid = 200;
  script.play({call, ended});
  script.world().fork({.pid = 200, .parent_pid = 100, .tid = 200, .parent_tid = 100});
  EXPECT_EQ(total(script.finish(), "bytes"), 64U);
}

TEST(Leaks, older_and_sizes_leave_out_blocks) {
  EventScript script("leaks", {.own = {{"older", "5"}, {"min-bytes", "8"}}});
  script.play(heap_alloc(0x10, 64, 1, kSecondNs));
  script.play(heap_alloc(0x20, 64, 1, 6 * kSecondNs));
  script.play(heap_alloc(0x30, 7, 1, kSecondNs));
  EXPECT_EQ(total(script.finish({.start_ns = 0, .end_ns = 10 * kSecondNs}), "count"), 1U);
}

TEST(Leaks, show_allocs_lists_blocks_oldest_first) {
  EventScript script("leaks", {.own = {{"show-allocs", "1"}}});
  script.play(heap_alloc(0x10, 64, 1, 2));
  script.play(heap_alloc(0x20, 32, 2, 1));
  const Report report = script.finish();
  const Table& list = report.tables.at(1);
  EXPECT_EQ(list.rows.at(0).at(0), number(0x20));
  EXPECT_EQ(list.rows.at(1).at(0), number(0x10));
  EXPECT_EQ(list.rows.at(0).at(1), text("malloc"));
  EXPECT_EQ(list.rows.at(0).at(column_index(list, "bytes")), number(32));
}

TEST(Leaks, what_is_outstanding_stays_for_the_next_interval) {
  EventScript script("leaks");
  script.play(heap_alloc(0x10, 64));
  script.finish();
  EXPECT_EQ(total(script.finish(), "bytes"), 64U);
}

TEST(Leaks, a_recording_of_entries_alone_says_so) {
  EventScript script("leaks");
  script.add_field("memtrace_heap_1:malloc", "size");
  ASSERT_TRUE(script.check().ok());
  script.play(heap_call("malloc", {.bytes = 64, .stack_pointer = 0x7000}));
  const Report report = script.finish();
  EXPECT_TRUE(report.inconclusive);
  EXPECT_TRUE(has_note(report, "returns of allocator functions were not recorded"));
}

// One request each 10 ms, of which one in ten is not freed; a start-up of larger blocks.
void play_server(EventScript& script, std::uint64_t seconds) {
  for (std::uint64_t i = 0; i < 10; ++i) {
    script.play(heap_alloc(0x1000'0000 + i * 0x1000, 1'000, 1, i));
  }
  for (std::uint64_t i = 0; i < seconds * 100; ++i) {
    const std::uint64_t now_ns = i * kSecondNs / 100;
    script.play(heap_alloc(0x1000 + i * 0x10, 8, 2, now_ns));
    if (i % 10 != 0) {
      Step free = heap_free(0x1000 + i * 0x10);
      free.at_ns = now_ns + 1000;
      script.play(free);
    }
  }
}

TEST(Leaks, each_row_has_a_verdict_and_what_it_rests_on) {
  EventScript script("leaks");
  play_server(script, 8);
  const Report report = script.finish({.start_ns = 0, .end_ns = 8 * kSecondNs});
  EXPECT_EQ(figure(report, {stack(2)}, "verdict"), text("leak"));
  EXPECT_EQ(figure(report, {stack(2)}, "freed"), Cell(90.0));
  EXPECT_EQ(figure(report, {stack(1)}, "verdict"), text("start-up"));
  EXPECT_EQ(figure(report, {stack(1)}, "growth_per_min"), number(0));
  EXPECT_EQ(figure(report, {stack(1)}, "half_life_ns"), Cell());
  const auto* growth = std::get_if<std::uint64_t>(
      &report.tables[0].rows[1][column_index(report.tables[0], "growth_per_min")]);
  ASSERT_NE(growth, nullptr);
  EXPECT_NEAR(static_cast<double>(*growth), 10 * 60 * 8, 10 * 60);
}

TEST(Leaks, a_leak_is_sorted_by_growth_and_so_is_a_running_process) {
  EventScript leaking("leaks");
  play_server(leaking, 8);
  const View::Span span{.start_ns = 0, .end_ns = 8 * kSecondNs};
  EXPECT_EQ(leaking.finish(span).tables[0].sort, "growth_per_min");
  EventScript script("leaks");
  for (std::uint64_t i = 0; i < 800; ++i) {
    script.play(heap_alloc(0x1000 + i * 0x10, 8, 2, i * kSecondNs / 100));
  }
  EXPECT_EQ(script.finish(span).tables[0].sort, "bytes");
  script.name_process(100, "server");
  EXPECT_EQ(script.finish(span).tables[0].sort, "growth_per_min");
  script.world().exit(100, 100);
  EXPECT_EQ(script.finish(span).tables[0].sort, "bytes");
}

TEST(Leaks, older_hides_blocks_from_the_table_and_not_from_the_verdict) {
  EventScript script("leaks", {.own = {{"older", "7"}}});
  play_server(script, 8);
  const Report report = script.finish({.start_ns = 0, .end_ns = 8 * kSecondNs});
  EXPECT_EQ(figure(report, {stack(2)}, "count"), number(11));
  EXPECT_EQ(figure(report, {stack(2)}, "verdict"), text("leak"));
}

TEST(Leaks, a_block_whose_free_may_be_lost_is_not_certain) {
  EventScript script("leaks");
  script.play(heap_alloc(0x10, 64, 1, 1));
  script.world().note_loss(2);
  script.play(heap_alloc(0x20, 32, 1, 3));
  const Report report = script.finish();
  EXPECT_EQ(figure(report, {stack(1)}, "bytes"), number(96));
  EXPECT_EQ(figure(report, {stack(1)}, "at_least"), number(32));
}

TEST(Leaks, an_address_that_is_given_out_again_was_freed) {
  EventScript script("leaks");
  for (std::uint64_t i = 0; i < 4; ++i) {
    script.play(heap_alloc(0x10, 64, 1, i));
  }
  const Report report = script.finish();
  EXPECT_EQ(figure(report, {stack(1)}, "count"), number(1));
  EXPECT_EQ(figure(report, {stack(1)}, "freed"), Cell(75.0));
}

}  // namespace
}  // namespace memtrace::test::leaks_view_test
