#include "state/heap/arena_guess.h"
#include "support/event_script.h"

namespace memtrace::test::arenas_view_test {
namespace {

constexpr std::uint64_t kHeap = 0x7f0000000000;  // a multiple of 64 MiB
constexpr std::uint64_t kArena = kHeap + 0x30;

Step probe(const std::string& name, const ArenaEvent& event, std::uint32_t tid = 101) {
  return {.event = "memtrace_12:libc_memory_" + name, .payload = event, .tid = tid};
}

Step new_heap(std::uint64_t heap, std::uint32_t tid = 101) {
  return probe("heap_new", {.op = ArenaOp::HeapNew, .address = heap, .bytes = 135168}, tid);
}

Step new_arena(std::uint64_t arena, std::uint32_t tid = 101) {
  return probe("arena_new", {.op = ArenaOp::ArenaNew, .address = arena, .bytes = 2200}, tid);
}

std::vector<Step> mapping_call(const std::string& name,
                               const SystemCallEntry& entry,
                               std::uint64_t result,
                               std::uint32_t tid = 101) {
  return {
      {.event = "syscalls:sys_enter_" + name, .payload = entry, .tid = tid},
      {.event = "syscalls:sys_exit_" + name,
       .payload = SystemCallExit{.call = entry.call, .result = static_cast<std::int64_t>(result)},
       .tid = tid},
  };
}

std::vector<Step> reserve(std::uint64_t address, std::uint64_t bytes, std::uint32_t tid = 101) {
  return mapping_call(
      "mmap", {.call = SystemCall::Mmap, .arguments = {0, bytes, 0, 0x4022}}, address, tid);
}

std::vector<Step> protect(std::uint64_t address, std::uint64_t bytes, std::uint32_t tid = 101) {
  return mapping_call(
      "mprotect", {.call = SystemCall::Mprotect, .arguments = {address, bytes, 3}}, 0, tid);
}

std::vector<Step> unmap(std::uint64_t address, std::uint64_t bytes) {
  return mapping_call("munmap", {.call = SystemCall::Munmap, .arguments = {address, bytes}}, 0);
}

std::vector<Step> set_break(std::uint64_t asked, std::uint64_t top) {
  return mapping_call("brk", {.call = SystemCall::Brk, .arguments = {asked}}, top, 100);
}

Cell cell(const Report& report, std::size_t table, std::string_view column, std::size_t row = 0) {
  const Table& shown = report.tables.at(table);
  return shown.rows.at(row).at(column_index(shown, column));
}

TEST(ArenasView, an_arena_belongs_to_the_thread_that_made_it_and_has_its_heap) {
  EventScript script("arenas");
  script.type("memtrace_12:libc_memory_arena_new");
  ASSERT_TRUE(script.check().ok());
  script.play({new_heap(kHeap), new_arena(kArena)});
  const Report report = script.finish();
  EXPECT_EQ(total(report, "arenas"), 1U);
  EXPECT_EQ(cell(report, 0, "arena"), number(kArena));
  EXPECT_EQ(cell(report, 0, "tid"), number(101));
  EXPECT_EQ(cell(report, 0, "heaps"), number(1));
  EXPECT_EQ(cell(report, 0, "bytes"), number(135168));
  EXPECT_TRUE(report.caveats.notes.empty());
}

TEST(ArenasView, waits_are_counted_for_the_thread_and_the_arena) {
  EventScript script("arenas");
  script.play({new_heap(kHeap), new_arena(kArena)});
  const Step wait = probe("arena_reuse_wait", {.op = ArenaOp::ArenaWait, .address = kArena}, 102);
  script.play({wait, wait});
  script.play(probe("arena_reuse", {.op = ArenaOp::ArenaReuse, .address = kArena}, 102));
  const Report report = script.finish();
  EXPECT_EQ(total(report, "waits"), 2U);
  EXPECT_EQ(cell(report, 0, "waits"), number(2));
  EXPECT_EQ(cell(report, 0, "threads"), number(2));
  const std::vector<Cell>* row = find_row(report.tables.at(1), {number(102), number(100)});
  ASSERT_NE(row, nullptr);
  EXPECT_EQ((*row)[3], number(kArena));
  EXPECT_EQ((*row)[4], number(2));
}

TEST(ArenasView, heaps_grow_shrink_and_are_freed) {
  EventScript script("arenas");
  script.play({new_heap(kHeap), new_arena(kArena), new_heap(kHeap + kArenaHeapBytes)});
  const auto heap_step = [](const char* name, ArenaOp op, std::uint64_t bytes) {
    return probe(name, {.op = op, .address = kHeap + kArenaHeapBytes, .bytes = bytes});
  };
  script.play({heap_step("heap_more", ArenaOp::HeapMore, 1 << 20),
               heap_step("heap_less", ArenaOp::HeapLess, 1 << 19)});
  Report report = script.finish();
  EXPECT_EQ(cell(report, 2, "arena", 1), number(kArena));
  EXPECT_EQ(cell(report, 2, "bytes", 1), number(1 << 19));
  EXPECT_EQ(cell(report, 2, "peak_bytes", 1), number(1 << 20));
  EXPECT_EQ(cell(report, 2, "grown", 1), number(1));
  EXPECT_EQ(cell(report, 2, "shrunk", 1), number(1));
  script.play(heap_step("heap_free", ArenaOp::HeapFree, 1 << 19));
  report = script.finish();
  EXPECT_EQ(report.tables.at(2).rows.size(), 1U);
  EXPECT_EQ(total(report, "heaps_new"), 2U);
  EXPECT_EQ(total(report, "heaps_freed"), 1U);
  EXPECT_EQ(total(report, "heap_bytes"), 135168U);
}

TEST(ArenasView, sbrk_is_summed_and_thresholds_are_listed_as_they_move) {
  EventScript script("arenas");
  script.play({probe("sbrk_more", {.op = ArenaOp::SbrkMore, .address = 1 << 24, .bytes = 4096}),
               probe("sbrk_more", {.op = ArenaOp::SbrkMore, .address = 1 << 24, .bytes = 8192}),
               probe("sbrk_less", {.op = ArenaOp::SbrkLess, .address = 1 << 24, .bytes = 4096})});
  Step moved = probe(
      "mallopt_free_dyn_thresholds",
      {.op = ArenaOp::Thresholds, .mmap_threshold_bytes = 200704, .trim_threshold_bytes = 401408});
  moved.at_ns = 500;
  script.play(moved);
  const Report report = script.finish({.start_ns = 100, .end_ns = 1000});
  EXPECT_EQ(total(report, "sbrk"), 8192U);
  EXPECT_EQ(total(report, "sbrk_less"), 4096U);
  EXPECT_EQ(cell(report, 3, "at_ns"), number(400));
  EXPECT_EQ(cell(report, 3, "mmap_threshold"), number(200704));
  EXPECT_EQ(cell(report, 3, "trim_threshold"), number(401408));
}

TEST(ArenasView, trace_lists_all_that_happened_in_order) {
  EventScript script("arenas", {.own = {{"trace", "1"}}});
  script.play({new_heap(kHeap), new_arena(kArena)});
  const Table trace = script.lines();
  ASSERT_EQ(trace.rows.size(), 2U);
  EXPECT_EQ(trace.rows[0][column_index(trace, "what")], text("new heap"));
  EXPECT_EQ(trace.rows[1][column_index(trace, "what")], text("new arena"));
}

TEST(ArenasView, without_probes_arenas_are_guessed_and_the_report_says_so) {
  EventScript script("arenas");
  // As glibc does it: twice the size, and what is outside of the multiple is given back.
  script.play(reserve(kHeap - 0x1000000, 2 * kArenaHeapBytes));
  script.play(unmap(kHeap - 0x1000000, 0x1000000));
  script.play(unmap(kHeap + kArenaHeapBytes, kArenaHeapBytes - 0x1000000));
  script.play(protect(kHeap, 135168));
  script.play(protect(kHeap + 135168, 4096));
  const Report report = script.finish();
  EXPECT_TRUE(has_note(report, "guessed"));
  EXPECT_EQ(total(report, "arenas"), 1U);
  EXPECT_EQ(cell(report, 0, "tid"), number(101));
  EXPECT_EQ(cell(report, 2, "bytes"), number(135168 + 4096));
  EXPECT_EQ(cell(report, 2, "grown"), number(1));
}

// Those of malloc and leaks, which watch what maps memory.
TEST(ArenasView, calls_that_other_views_record_do_not_tell_of_arenas) {
  EventScript others("arenas");
  others.type("syscalls:sys_enter_mmap");
  others.type("syscalls:sys_exit_mmap");
  ASSERT_TRUE(others.check().ok());
  EXPECT_TRUE(others.finish().inconclusive);
  EventScript own("arenas");
  own.type("syscalls:sys_enter_mmap");
  own.type("syscalls:sys_enter_mprotect");
  ASSERT_TRUE(own.check().ok());
  EXPECT_FALSE(own.finish().inconclusive);
}

TEST(ArenasView, a_threads_second_heap_is_no_new_arena) {
  EventScript script("arenas");
  script.play(reserve(kHeap, kArenaHeapBytes));
  script.play(protect(kHeap, 135168));
  script.play(reserve(kHeap + kArenaHeapBytes, kArenaHeapBytes));
  script.play(protect(kHeap + kArenaHeapBytes, 135168));
  script.play(protect(kHeap + kArenaHeapBytes + 135168, 4096, 102));  // uses that arena
  script.play(reserve(kHeap + 2 * kArenaHeapBytes, kArenaHeapBytes, 102));
  script.play(protect(kHeap + 2 * kArenaHeapBytes, 135168, 102));
  Report report = script.finish();
  EXPECT_EQ(total(report, "arenas"), 1U);
  EXPECT_EQ(cell(report, 0, "heaps"), number(3));
  script.play(unmap(kHeap + 2 * kArenaHeapBytes, kArenaHeapBytes));
  report = script.finish();
  EXPECT_EQ(cell(report, 0, "heaps"), number(2));
  EXPECT_EQ(total(report, "heaps_freed"), 1U);
}

TEST(ArenasView, brk_moves_the_main_heap) {
  EventScript script("arenas");
  script.play(set_break(0, 0x1000000));
  script.play(set_break(0x1021000, 0x1021000));
  script.play(set_break(0x1001000, 0x1001000));
  script.play(set_break(1ULL << 62U, 0x1001000));  // refused
  const Report report = script.finish();
  EXPECT_EQ(total(report, "sbrk_more"), 0x21000U);
  EXPECT_EQ(total(report, "sbrk_less"), 0x20000U);
  EXPECT_EQ(total(report, "sbrk"), 0x1000U);
}

TEST(ArenasView, mappings_that_are_no_heaps_are_left_out) {
  EventScript script("arenas");
  script.play(reserve(kHeap + 4096, kArenaHeapBytes));  // not at a multiple
  script.play(protect(kHeap + 4096, 135168));
  script.play(reserve(kHeap, 8 << 20));  // a stack
  script.play(protect(kHeap, 4096));
  EXPECT_EQ(total(script.finish(), "heaps_new"), 0U);
}

TEST(ArenasView, a_failed_call_changes_nothing) {
  EventScript script("arenas");
  script.play(reserve(static_cast<std::uint64_t>(-12), kArenaHeapBytes));
  script.play(reserve(kHeap, kArenaHeapBytes));
  script.play(mapping_call("mprotect",
                           {.call = SystemCall::Mprotect, .arguments = {kHeap, 1, 3}},
                           static_cast<std::uint64_t>(-12)));
  EXPECT_EQ(total(script.finish(), "heaps_new"), 0U);
}

TEST(ArenasView, exec_leaves_no_arena) {
  EventScript script("arenas");
  script.name_process(100, "before");
  script.play({new_heap(kHeap), new_arena(kArena)});
  script.world().exec(100);
  script.play(new_heap(kHeap + kArenaHeapBytes));
  const Report report = script.finish();
  EXPECT_EQ(total(report, "arenas"), 0U);
  EXPECT_EQ(total(report, "heaps_new"), 1U);
}

TEST(ArenasView, by_chooses_the_tables) {
  EventScript script("arenas", {.by = {"heap"}});
  script.play(new_heap(kHeap));
  const Report report = script.finish();
  ASSERT_EQ(report.tables.size(), 1U);
  EXPECT_EQ(report.tables[0].title, "heaps");
  EXPECT_FALSE(find_view("arenas")->spec.make({.by = {"stack"}}).ok());
}

TEST(ArenasView, by_a_key_of_processes_adds_up_what_each_has) {
  EventScript script("arenas", {.by = {"pid", "command"}});
  script.name_process(100, "java");
  auto& world = script.world();
  world.processes().lives().note_command(world.processes().find(100)->life,
                                         world.strings().intern("java -jar x"));
  script.play({new_heap(kHeap), new_arena(kArena), new_heap(kHeap + kArenaHeapBytes)});
  const Report report = script.finish();
  ASSERT_EQ(report.tables.size(), 1U);
  EXPECT_EQ(report.tables[0].title, "by pid, command");
  EXPECT_EQ(cell(report, 0, "pid"), number(100));
  EXPECT_EQ(cell(report, 0, "command"), Cell(std::string("java -jar x")));
  EXPECT_EQ(cell(report, 0, "arenas"), number(1));
  EXPECT_EQ(cell(report, 0, "heaps"), number(2));
  EXPECT_EQ(cell(report, 0, "bytes"), number(2 * 135168));
}

}  // namespace
}  // namespace memtrace::test::arenas_view_test
