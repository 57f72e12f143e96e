#include "state/world/resident_snapshot.h"
#include "views/fault/fault_script.h"

namespace memtrace::test::growth_view_test {
namespace {

constexpr std::uint64_t kPage = 4096;
constexpr std::uint64_t kArea = 0x40000000;  // where a huge page may begin
constexpr std::uint64_t kFile = 0x50000000;
constexpr std::uint64_t kHugeBytes = 512 * kPage;

Step begun(SystemCall call, SystemCallArguments arguments) {
  return {.event = "syscalls:sys_enter_x",
          .payload = SystemCallEntry{.call = call, .arguments = arguments}};
}

Step ended(SystemCall call, std::int64_t result = 0) {
  return {.event = "syscalls:sys_exit_x",
          .payload = SystemCallExit{.call = call, .result = result}};
}

// Writes to pages in a row, each for the first time.
std::vector<Step> touch(std::uint64_t start, std::uint64_t pages, std::uint32_t stack = 1) {
  std::vector<Step> steps;
  for (std::uint64_t i = 0; i < pages; ++i) {
    steps.push_back(with_stack(stack, entry(start + i * kPage)));
  }
  return steps;
}

EventScript grown(const ViewOptions& options = {}) {
  EventScript script("growth", options);
  for (const char* event :
       {"exceptions:page_fault_user", "kmem:mm_page_alloc", "syscalls:sys_enter_munmap"}) {
    script.type(event);
  }
  EXPECT_TRUE(script.check().ok());
  script.play({begun(SystemCall::Brk, {0}), ended(SystemCall::Brk, 0x1000)});
  map(script, {kArea, 4 * kHugeBytes});
  map(script, {kFile, 64 * kPage, AreaKind::File, "/data"});
  return script;
}

// What /proc says is resident.
void see(EventScript& script,
         std::string_view reader,
         std::uint64_t time_ns,
         std::vector<ResidentSnapshot> processes) {
  Observation observation{.reader = std::string(reader), .time_ns = time_ns};
  for (const ResidentSnapshot& process : processes) {
    observation.rows.push_back(facts_of(process));
  }
  script.world().observations().add(std::move(observation));
}

ResidentSnapshot resident(std::uint64_t start, std::uint64_t pages, std::uint32_t pid = 100) {
  return {.pid = pid,
          .comm = "puppet",
          .rss_bytes = pages * kPage,
          .runs = {{start / kPage, start / kPage + pages}}};
}

Cell pages(std::uint64_t count) {
  return number(count * kPage);
}

// Of the second table, which has a row for each process.
Cell of_process(const Report& report, std::uint32_t pid, std::string_view column) {
  if (report.tables.size() < 2) {
    return text("no table");
  }
  const Table& table = report.tables[1];
  for (const auto& row : table.rows) {
    if (row[column_index(table, "pid")] == number(pid)) {
      return row[column_index(table, column)];
    }
  }
  return text("no row");
}

TEST(Growth, pages_belong_to_the_stack_that_touched_them_first) {
  EventScript script = grown();
  script.play(touch(kArea, 10, 1));
  script.play(touch(kArea + 4 * kPage, 10, 2));  // six of them are touched again
  const Report report = script.finish();
  EXPECT_EQ(figure(report, {stack(1)}, "resident"), pages(10));
  EXPECT_EQ(figure(report, {stack(2)}, "resident"), pages(4));
  EXPECT_EQ(total(report, "touched"), 14 * kPage);
  EXPECT_TRUE(has_note(report, "resident is at most what 1 process touched"));
}

TEST(Growth, what_is_given_back_is_no_longer_resident) {
  EventScript script = grown();
  script.play(touch(kArea, 16));
  script.play({begun(SystemCall::Munmap, {kArea, 8 * kPage}), ended(SystemCall::Munmap)});
  script.play(
      {begun(SystemCall::Madvise, {kArea + 8 * kPage, 2 * kPage, 4}), ended(SystemCall::Madvise)});
  script.play({begun(SystemCall::Madvise, {kArea + 10 * kPage, 2 * kPage, 3}),  // MADV_WILLNEED
               ended(SystemCall::Madvise)});
  script.play({begun(SystemCall::Mmap, {kArea + 15 * kPage, kPage, 3, 0x32}),  // MAP_FIXED
               ended(SystemCall::Mmap, kArea + 15 * kPage)});
  const Report report = script.finish();
  EXPECT_EQ(figure(report, {stack(1)}, "resident"), pages(5));
  EXPECT_EQ(figure(report, {stack(1)}, "freed"), pages(11));
}

TEST(Growth, shrinking_heap_gives_its_pages_back) {
  EventScript script = grown();
  const std::uint64_t heap = 0x60000000;
  script.play({begun(SystemCall::Brk, {0}), ended(SystemCall::Brk, heap)});
  script.play(
      {begun(SystemCall::Brk, {heap + 8 * kPage}), ended(SystemCall::Brk, heap + 8 * kPage)});
  script.play(touch(heap, 8));
  script.play({begun(SystemCall::Brk, {heap + 3 * kPage + 5}),
               ended(SystemCall::Brk, heap + 3 * kPage + 5)});
  const Report report = script.finish();
  EXPECT_EQ(figure(report, {stack(1)}, "resident"), pages(4));
  EXPECT_EQ(figure(report, {stack(1)}, "freed"), pages(4));
}

TEST(Growth, moved_pages_keep_their_stack) {
  EventScript script = grown();
  script.play(touch(kArea, 4));
  script.play({begun(SystemCall::Mremap, {kArea, 4 * kPage, 3 * kPage, 1}),
               ended(SystemCall::Mremap, kArea + kHugeBytes)});
  script.play(touch(kArea + kHugeBytes, 3, 2));  // swapped in: they have a stack
  script.play(touch(kArea, 1, 3));               // mapped anew
  const Report report = script.finish();
  EXPECT_EQ(figure(report, {stack(1)}, "resident"), pages(3));
  EXPECT_EQ(figure(report, {stack(1)}, "freed"), pages(1));
  EXPECT_EQ(figure(report, {stack(3)}, "resident"), pages(1));
}

TEST(Growth, huge_page_is_all_its_pages) {
  EventScript script = grown();
  script.play({entry(kArea + 5 * kPage), page_alloc(9)});
  script.play(touch(kArea + kHugeBytes, 1, 2));
  script.play(page_alloc(9, 0, true));  // it failed
  const Report report = script.finish();
  EXPECT_EQ(figure(report, {stack(1)}, "resident"), number(kHugeBytes));
  EXPECT_EQ(figure(report, {stack(2)}, "resident"), pages(1));
}

TEST(Growth, smaller_large_folio_is_all_its_pages) {
  EventScript script = grown();
  const auto folio = [](bool like_huge_page) {
    return Step{.event = "kmem:mm_page_alloc",
                .payload = PageAlloc{.order = 4, .like_huge_page = like_huge_page}};
  };
  script.play({entry(kArea + 5 * kPage), folio(true)});
  script.play(touch(kArea + 16 * kPage, 1, 2));
  script.play(folio(false));  // of the page cache
  const Report report = script.finish();
  EXPECT_EQ(figure(report, {stack(1)}, "resident"), pages(16));
  EXPECT_EQ(figure(report, {stack(2)}, "resident"), pages(1));
}

TEST(Growth, huge_page_for_something_else_is_nobodys) {
  EventScript script = grown();
  script.play(touch(kArea, 1, 1));
  script.play(at(60'000'000, page_alloc(9)));  // long after the fault
  script.play(touch(kFile, 1, 2));
  script.play(page_alloc(9));
  const Report report = script.finish();
  EXPECT_EQ(figure(report, {stack(1)}, "resident"), pages(1));
  EXPECT_EQ(figure(report, {stack(2)}, "resident"), pages(1));
}

TEST(Growth, page_of_zeros_is_not_resident_until_it_is_written) {
  EventScript script = grown();
  script.play({entry(kArea, kRead), entry(kArea + kPage, kRead)});
  script.play(with_stack(2, entry(kArea, kWriteProtected)));
  const Report report = script.finish();
  EXPECT_EQ(report.tables[0].rows.size(), 1U);
  EXPECT_EQ(figure(report, {stack(2)}, "resident"), pages(1));
}

TEST(Growth, page_that_was_there_before_is_no_growth) {
  EventScript script = grown();
  script.play(entry(kArea, kWriteProtected));
  EXPECT_TRUE(script.finish().tables[0].rows.empty());
  script.world().exec(100);
  map(script, {kFile, 64 * kPage, AreaKind::File, "/data"});
  script.play(entry(kFile, kWriteProtected));  // mapped by the fault beside it
  EXPECT_EQ(figure(script.finish(), {stack(1)}, "resident"), pages(1));
}

TEST(Growth, pages_that_proc_does_not_see_are_gone) {
  EventScript script = grown();
  script.play(touch(kArea, 10));
  see(script, kResidentAtEnd, 9, {resident(kArea, 7)});
  const Report report = script.finish();
  EXPECT_EQ(figure(report, {stack(1)}, "resident"), pages(7));
  EXPECT_EQ(figure(report, {stack(1)}, "gone"), pages(3));
  EXPECT_EQ(of_process(report, 100, "by_stack"), pages(7));
  EXPECT_EQ(of_process(report, 100, "unexplained"), Cell(std::int64_t{0}));
  EXPECT_FALSE(has_note(report, "at most"));
}

// A file has what was read at its end from its first record on.
TEST(Growth, what_proc_says_at_the_end_says_nothing_of_a_time_before) {
  EventScript script = grown();
  script.play(touch(kArea, 10));
  see(script, kResidentAtEnd, 900, {resident(kArea, 7)});
  const Report report = script.finish({.start_ns = 0, .end_ns = 500});
  EXPECT_EQ(figure(report, {stack(1)}, "resident"), pages(10));
  EXPECT_TRUE(has_note(report, "at most"));
}

TEST(Growth, pages_beside_go_to_the_nearest_touched_page_of_their_mapping) {
  EventScript script = grown();
  script.world().exec(100);
  map(script, {kFile, 32 * kPage, AreaKind::File, "/data"});
  map(script, {kFile + 32 * kPage, 32 * kPage, AreaKind::File, "/other"});
  script.play(with_stack(1, entry(kFile + 4 * kPage, kRead)));
  script.play(with_stack(2, entry(kFile + 20 * kPage, kRead)));
  see(script, kResidentAtEnd, 9, {resident(kFile, 40)});
  const Report report = script.finish();
  EXPECT_EQ(figure(report, {stack(1)}, "resident"), pages(13));  // 0 to 12
  EXPECT_EQ(figure(report, {stack(1)}, "beside"), pages(12));
  EXPECT_EQ(figure(report, {stack(2)}, "resident"), pages(19));  // to 31
  EXPECT_EQ(of_process(report, 100, "by_stack"), pages(32));
  EXPECT_EQ(of_process(report, 100, "unexplained"), Cell(std::int64_t{8 * kPage}));
}

TEST(Growth, what_was_resident_before_is_a_figure_of_its_own) {
  EventScript script = grown();
  see(script, kResidentAtBegin, 1, {resident(kArea, 20)});
  script.play({begun(SystemCall::Munmap, {kArea, 5 * kPage}), ended(SystemCall::Munmap)});
  script.play(touch(kArea, 2));
  see(script, kResidentAtEnd, 9, {resident(kArea, 2), resident(kArea, 9, 7)});
  auto last = *script.world().observations().last(kResidentAtEnd);
  last.rows[0].texts["pages"] = "40000,2;3,f;";  // 15 of those before are left
  script.world().observations().add(last);
  const Report report = script.finish();
  EXPECT_EQ(of_process(report, 100, "rss_begin"), pages(20));
  EXPECT_EQ(of_process(report, 100, "before"), pages(15));
  EXPECT_EQ(of_process(report, 100, "by_stack"), pages(2));
  EXPECT_EQ(of_process(report, 7, "rss_begin"), Cell());
}

TEST(Growth, child_inherits_pages_and_owns_what_it_writes) {
  EventScript script = grown({.by = {"pid"}});
  see(script, kResidentAtBegin, 1, {resident(kArea + kHugeBytes, 4)});
  script.play(touch(kArea, 10));
  script.world().fork({.pid = 200, .parent_pid = 100, .tid = 200, .parent_tid = 100});
  script.play(by_process(200, entry(kArea, kWriteProtected)));
  script.play(by_process(200, begun(SystemCall::Munmap, {kArea + 8 * kPage, 2 * kPage})));
  ResidentSnapshot child = resident(kArea, 8, 200);
  child.runs.push_back({(kArea + kHugeBytes) / kPage, (kArea + kHugeBytes) / kPage + 4});
  see(script, kResidentAtEnd, 9, {resident(kArea, 10), child});
  const Report report = script.finish();
  EXPECT_EQ(figure(report, {number(100)}, "resident"), pages(10));
  EXPECT_EQ(figure(report, {number(200)}, "resident"), pages(1));
  EXPECT_EQ(of_process(report, 200, "inherited"), pages(11));
}

TEST(Growth, process_that_has_ended_held_its_pages) {
  EventScript script = grown();
  script.play(touch(kArea, 3));
  script.world().exit(100, 101);  // a thread
  EXPECT_EQ(figure(script.finish(), {stack(1)}, "resident"), pages(3));
  script.world().exit(100, 100);
  const Report report = script.finish();
  EXPECT_EQ(figure(report, {stack(1)}, "resident"), number(0));
  EXPECT_EQ(figure(report, {stack(1)}, "ended"), pages(3));
  EXPECT_EQ(report.tables[0].sort, "ended");
  script.world().fork({.pid = 100, .parent_pid = 1, .tid = 100, .parent_tid = 1});
  EXPECT_EQ(total(script.finish(), "ended"), 3 * kPage);  // its id is another's
}

TEST(Growth, new_program_has_none_of_the_pages_of_the_old_one) {
  EventScript script = grown();
  script.play(touch(kArea, 3));
  script.world().exec(100);
  const Report report = script.finish();
  EXPECT_EQ(figure(report, {stack(1)}, "resident"), number(0));
  EXPECT_EQ(figure(report, {stack(1)}, "freed"), pages(3));
}

TEST(Growth, interval_counts_what_it_touched_and_all_that_is_resident) {
  EventScript script = grown();
  script.play(touch(kArea, 3));
  (void)script.finish();
  script.play(touch(kArea + 3 * kPage, 2));
  const Report report = script.finish();
  EXPECT_EQ(figure(report, {stack(1)}, "resident"), pages(5));
  EXPECT_EQ(figure(report, {stack(1)}, "touched"), pages(2));
}

TEST(Growth, what_was_touched_before_the_time_that_is_counted_is_resident_alone) {
  EventScript script = grown();
  script.world().count_from(100);
  script.play(touch(kArea, 3));
  script.play({at(200, entry(kArea + 8 * kPage)), at(200, entry(kArea + 9 * kPage))});
  const Report report = script.finish();
  EXPECT_EQ(figure(report, {stack(1)}, "resident"), pages(5));
  EXPECT_EQ(figure(report, {stack(1)}, "touched"), pages(2));
}

TEST(Growth, page_faulting_again_is_another_stacks_if_no_call_can_be_seen) {
  EventScript script("growth");
  map(script, {kArea, kHugeBytes});
  script.play(with_stack(1, software(kArea)));
  script.play(with_stack(2, entry(kArea)));
  const Report report = script.finish();
  EXPECT_EQ(figure(report, {stack(2)}, "resident"), pages(1));
  EXPECT_EQ(figure(report, {stack(1)}, "resident"), number(0));
  EXPECT_EQ(figure(report, {stack(1)}, "freed"), Cell());
}

TEST(Growth, addresses_that_are_never_resident_count_for_nothing) {
  EventScript script = grown();
  map(script, {0x70000000, kHugeBytes, AreaKind::HugePages, "/anon_hugepage"});
  script.play({entry(0x70000000), kernel_entry(0xffff888000000000)});
  EXPECT_TRUE(script.finish().tables[0].rows.empty());
}

TEST(Growth, missing_events_are_said) {
  EventScript script("growth");
  script.type("page-faults");
  ASSERT_TRUE(script.check().ok());
  script.play(weighing(10, software(kArea)));
  const Report report = script.finish();
  EXPECT_EQ(figure(report, {stack(1)}, "resident"), pages(10));
  for (const char* part :
       {"freed is not known", "was only read", "kmem:mm_page_alloc", "one in N faults"}) {
    EXPECT_TRUE(has_note(report, part)) << part;
  }
}

TEST(Growth, every_key_makes_a_row) {
  for (const std::string_view key : find_view("growth")->spec.keys) {
    EventScript script = grown({.by = {std::string(key)}});
    script.play(touch(kFile, 2));
    EXPECT_EQ(script.finish().tables[0].rows.size(), 1U) << key;
  }
}

TEST(Growth, file_and_kind_are_those_of_the_touched_mapping) {
  EventScript script = grown({.by = {"kind", "file"}});
  script.play(touch(kFile, 2));
  script.play(touch(kArea, 3));
  const Report report = script.finish();
  EXPECT_EQ(figure(report, {text("file"), text("/data")}, "resident"), pages(2));
  EXPECT_EQ(figure(report, {text("anonymous"), text("[anonymous]")}, "resident"), pages(3));
}

}  // namespace
}  // namespace memtrace::test::growth_view_test
