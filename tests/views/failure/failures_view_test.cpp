#include "support/call_script.h"
#include "support/fake_namer.h"

namespace memtrace::failures_view_test {
namespace {

using namespace memtrace::test;

constexpr std::int64_t kNoMemory = -12;
constexpr std::uint64_t kMega = 1U << 20U;

std::vector<Step> map(std::uint64_t bytes, const CallAt& when = {}) {
  return system_call(
      "mmap", {.call = SystemCall::Mmap, .arguments = {0, bytes, 3, 0x22}}, kNoMemory, when);
}

void observe(EventScript& script, std::string_view reader, Observation seen) {
  seen.reader = reader;
  seen.tid = 100;
  script.world().observations().add(std::move(seen));
}

Report finished(EventScript& script) {
  Report report = script.finish();
  FakeNamer namer;
  script.view().complete(report, namer);
  return report;
}

Cell cell(const Report& report, std::size_t row, std::string_view column) {
  const Table& table = report.tables.front();
  return table.rows.at(row).at(column_index(table, column));
}

TEST(FailuresView, a_refused_call_has_its_reason_and_its_figures) {
  EventScript script("failures");
  script.name_process(100, "dd");
  for (const std::uint64_t at_ns : {1000U, 2000U}) {
    observe(script,
            "limits",
            {.time_ns = at_ns,
             .facts = {.numbers = {{"vm_size", 60 * kMega}, {"rlimit_as", 64 * kMega}}}});
    script.play(map(16 * kMega, {.at_ns = at_ns}));
  }
  const Report report = finished(script);
  ASSERT_EQ(report.tables.front().rows.size(), 1U);
  EXPECT_EQ(cell(report, 0, "subject"), text("2 x mmap by dd (100)"));
  EXPECT_EQ(cell(report, 0, "reason"), text("rlimit_as"));
  EXPECT_EQ(cell(report, 0, "count"), number(2));
  EXPECT_EQ(cell(report, 0, "asked"), number(16 * kMega));
  EXPECT_EQ(cell(report, 0, "excess"), number(12 * kMega));
  EXPECT_EQ(cell(report, 0, "unit"), text("bytes"));
  EXPECT_EQ(cell(report, 0, "last_at_ns"), number(2000));
  EXPECT_EQ(total(report, "calls"), 2U);
  EXPECT_EQ(std::get<std::uint64_t>(report.tables.at(1).rows.at(0).at(1)), 2U);
  EXPECT_TRUE(finished(script).tables.front().rows.empty()) << "the next interval is empty";
}

TEST(FailuresView, a_call_with_two_reasons_is_one_call) {
  EventScript script("failures");
  observe(
      script,
      "limits",
      {.time_ns = 1000,
       .facts = {.numbers = {{"rlimit_as", kMega}, {"rlimit_data", kMega}, {"vm_data", kMega}}}});
  script.play(map(2 * kMega));
  const Report report = finished(script);
  EXPECT_EQ(report.tables.front().rows.size(), 2U);
  EXPECT_EQ(total(report, "calls"), 1U);
}

TEST(FailuresView, an_address_space_that_nobody_could_read_is_that_of_the_mappings) {
  EventScript script("failures");
  observe(script, "limits", {.time_ns = 1000, .facts = {.numbers = {{"rlimit_as", 4 * kMega}}}});
  script.world().announce({.pid = 100, .tid = 100, .range = {0x10000, 0x10000 + 2 * kMega}});
  script.play(map(3 * kMega));
  EXPECT_EQ(cell(finished(script), 0, "used"), number(2 * kMega));
}

TEST(FailuresView, pages_that_were_not_there_are_explained_by_the_zones) {
  EventScript script("failures");
  observe(
      script,
      "free_blocks",
      {.time_ns = 500,
       .rows = {{.numbers = {{"node", 0}, {"free", 16 * kMega}},
                 .texts = {{"zone", "Normal"}, {"blocks", "4096 0 0 0"}, {"free_movable", "7"}}}}});
  Step step = page_alloc({.order = 3, .failed = true});
  step.at_ns = 500;
  script.play(step);
  script.play(page_alloc({.page = 7, .order = 3}));
  const Report report = finished(script);
  EXPECT_EQ(total(report, "allocations"), 1U);
  EXPECT_EQ(cell(report, 0, "reason"), text("fragmentation"));
  EXPECT_EQ(cell(report, 0, "what"), text("order 3"));
  const Table& blocks = report.tables.at(2);
  ASSERT_EQ(blocks.rows.size(), 2U);
  EXPECT_EQ(blocks.rows[0][column_index(blocks, "order_0")], number(4096));
  EXPECT_EQ(blocks.rows[1][column_index(blocks, "type")], text("movable"));
  EXPECT_EQ(blocks.rows[1][column_index(blocks, "order_1")], Cell());
}

TEST(FailuresView, kmalloc_that_returns_nothing_is_a_failure) {
  EventScript script("failures");
  script.play(kmalloc({.ptr = 0, .bytes_req = 9000}));
  script.play(kmalloc({.ptr = 0x1000, .bytes_req = 9000}));
  const Report report = finished(script);
  EXPECT_EQ(total(report, "allocations"), 1U);
  EXPECT_EQ(cell(report, 0, "what"), text("kmalloc"));
  EXPECT_EQ(cell(report, 0, "asked"), number(9000));
  EXPECT_EQ(cell(report, 0, "reason"), text("not_read"));
}

TEST(FailuresView, a_kill_comes_first) {
  EventScript script("failures");
  script.play(map(kMega));
  script.play(map(kMega));
  script.play({.event = "oom:mark_victim", .payload = OomVictim{.pid = 77, .comm = "hog"}});
  const Report report = finished(script);
  EXPECT_EQ(total(report, "kills"), 1U);
  EXPECT_EQ(cell(report, 0, "kind"), text("kill"));
  EXPECT_EQ(cell(report, 0, "pid"), number(77));
}

TEST(FailuresView, a_recording_without_allocations_says_so) {
  EventScript script("failures");
  script.type("syscalls:sys_exit_mmap");
  EXPECT_TRUE(script.check().ok());
  const Report report = finished(script);
  EXPECT_TRUE(has_note(report, "kmem:mm_page_alloc was not recorded"));
  EXPECT_FALSE(has_note(report, "system calls that were refused are not known"));
}

TEST(FailuresView, a_recording_without_calls_says_so) {
  EventScript script("failures");
  script.type("oom:mark_victim");
  script.type("kmem:mm_page_alloc");
  EXPECT_TRUE(script.check().ok());
  const Report report = finished(script);
  EXPECT_TRUE(has_note(report, "system calls that were refused are not known"));
  EXPECT_FALSE(has_note(report, "kmem:mm_page_alloc was not recorded"));
}

}  // namespace
}  // namespace memtrace::failures_view_test
