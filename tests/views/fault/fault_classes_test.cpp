// What faults are called by the mapping that they are in, and how long they took.
#include <array>
#include <csignal>
#include <map>
#include <string>

#include "views/fault/fault_script.h"

namespace memtrace::test::fault_classes_test {
namespace {

// Each kind of mapping in a place of its own.
constexpr std::uint64_t kHeap = 0x100000;
constexpr std::uint64_t kStack = 0x200000;
constexpr std::uint64_t kAnonymous = 0x300000;
constexpr std::uint64_t kShared = 0x400000;
constexpr std::uint64_t kPrivateFile = 0x500000;
constexpr std::uint64_t kSharedFile = 0x600000;
constexpr std::uint64_t kHugetlb = 0x800000;
constexpr std::uint64_t kNowhere = 0x900000;

void map_all(EventScript& script) {
  constexpr std::uint64_t kBytes = 0x10000;
  map(script, {kHeap, kBytes, AreaKind::Heap, "[heap]"});
  map(script, {kStack, kBytes, AreaKind::Stack, "[stack]"});
  map(script, {kAnonymous, kBytes, AreaKind::Anonymous, "//anon"});
  map(script, {kShared, kBytes, AreaKind::SharedMemory, "/dev/zero (deleted)", 0, true});
  map(script, {kPrivateFile, kBytes, AreaKind::File, "/lib/libc.so.6", 0x7000});
  map(script, {kSharedFile, kBytes, AreaKind::File, "/var/data", 0, true});
  map(script, {kHugetlb, kBytes, AreaKind::HugePages, "/anon_hugepage (deleted)"});
}

// The one class that these events make.
std::string class_of(const std::vector<Step>& steps) {
  EventScript script("faults", {.by = {"class"}});
  map_all(script);
  script.play(steps);
  const Report report = script.finish();
  const Table& table = report.tables.front();
  EXPECT_EQ(table.rows.size(), 1U);
  return table.rows.empty() ? "" : std::get<std::string>(table.rows[0][0]);
}

std::string minor_class(std::uint64_t address, std::uint64_t error_code) {
  return class_of({entry(address, error_code), minor(address)});
}

std::string major_class(std::uint64_t address, std::uint64_t error_code) {
  return class_of({entry(address, error_code), major(address)});
}

TEST(FaultClasses, memory_without_a_file_is_filled_copied_or_swapped_in) {
  for (const std::uint64_t place : {kHeap, kStack, kAnonymous}) {
    EXPECT_EQ(minor_class(place, kRead), "zero-fill");
    EXPECT_EQ(minor_class(place, kWrite), "zero-fill");
    EXPECT_EQ(minor_class(place, kWriteProtected), "copy-on-write");
    EXPECT_EQ(major_class(place, kRead), "swap-in");
  }
}

TEST(FaultClasses, files_are_mapped_read_or_copied) {
  EXPECT_EQ(minor_class(kPrivateFile, kRead), "file minor");
  EXPECT_EQ(minor_class(kPrivateFile, kExec), "file minor");
  EXPECT_EQ(major_class(kPrivateFile, kRead), "file major");
  EXPECT_EQ(major_class(kPrivateFile, kWrite), "file major");
  EXPECT_EQ(minor_class(kPrivateFile, kWrite), "copy-on-write");
  EXPECT_EQ(minor_class(kPrivateFile, kWriteProtected), "copy-on-write");
  EXPECT_EQ(minor_class(kSharedFile, kWrite), "file minor");
  EXPECT_EQ(minor_class(kSharedFile, kWriteProtected), "shared write");
  EXPECT_EQ(major_class(kSharedFile, kRead), "file major");
}

TEST(FaultClasses, shared_memory_is_never_copied_and_may_be_swapped) {
  EXPECT_EQ(minor_class(kShared, kWrite), "shared memory");
  EXPECT_EQ(minor_class(kShared, kRead), "shared memory");
  EXPECT_EQ(major_class(kShared, kRead), "swap-in");
}

TEST(FaultClasses, huge_pages_are_hugetlbs_by_the_mapping_and_else_by_their_allocation) {
  EXPECT_EQ(minor_class(kHugetlb, kWrite), "hugetlb");
  EXPECT_EQ(class_of({entry(kHeap), page_alloc(9), minor(kHeap)}), "huge");
  EXPECT_EQ(class_of({entry(kHeap), page_alloc(3), minor(kHeap)}), "zero-fill");
  EXPECT_EQ(class_of({entry(kHeap), page_alloc(9, 0, true), page_alloc(0), minor(kHeap)}),
            "zero-fill");
}

TEST(FaultClasses, allocations_of_others_and_outside_of_the_fault_make_no_huge_page) {
  EXPECT_EQ(class_of({entry(kHeap), by_thread(7, page_alloc(9)), minor(kHeap)}), "zero-fill");
  EXPECT_EQ(class_of({page_alloc(9), entry(kHeap), minor(kHeap), page_alloc(9)}), "zero-fill");
}

TEST(FaultClasses, access_that_no_fault_can_serve_failed_wherever_it_was) {
  EventScript script("faults", {.by = {"class", "kind"}});
  map_all(script);
  script.play({entry(kNowhere), entry(kHeap, kRead), minor(kHeap), entry(kSharedFile)});
  const Report report = script.finish();
  EXPECT_EQ(figure(report, {text("failed"), text("unmapped")}, "count"), number(1));
  EXPECT_EQ(figure(report, {text("failed"), text("file")}, "count"), number(1));
  EXPECT_EQ(figure(report, {text("zero-fill"), text("heap")}, "count"), number(1));
}

TEST(FaultClasses, failures_go_by_what_the_thread_got_for_them) {
  EXPECT_EQ(class_of({entry(kNowhere), signal_to(100, SIGSEGV)}), "SIGSEGV");
  EXPECT_EQ(class_of({entry(kSharedFile), signal_to(100, SIGBUS)}), "SIGBUS");
  const Step kill = signal_to(5, SIGKILL);
  EXPECT_EQ(class_of({entry(kHeap), kill}), "out of memory");
  EXPECT_EQ(class_of({entry(kHeap), kill, minor(kHeap)}), "zero-fill");
}

TEST(FaultClasses, signals_of_others_and_to_others_make_no_failure) {
  EXPECT_EQ(class_of({entry(kHeap), signal_to(100, SIGTERM), minor(kHeap)}), "zero-fill");
  EXPECT_EQ(class_of({entry(kHeap), signal_to(7, SIGSEGV), minor(kHeap)}), "zero-fill");
  EventScript script("faults", {.by = {"class"}});
  map_all(script);
  script.play({entry(kHeap), signal_to(7, SIGSEGV), entry(kStack), minor(kStack)});
  EXPECT_EQ(figure(script.finish(), {text("failed")}, "count"), number(1));
}

std::map<std::string, std::uint64_t> classes_of(const std::vector<Step>& steps) {
  EventScript script("faults", {.by = {"class"}});
  map_all(script);
  script.play(steps);
  std::map<std::string, std::uint64_t> classes;
  const Report report = script.finish();
  const Table& table = report.tables.front();
  for (const std::vector<Cell>& row : table.rows) {
    classes[std::get<std::string>(row[0])] =
        std::get<std::uint64_t>(row[column_index(table, "count")]);
  }
  return classes;
}

using Classes = std::map<std::string, std::uint64_t>;

TEST(FaultClasses, first_write_to_a_page_that_was_only_read_replaces_the_page_of_zeros) {
  const std::vector<Step> read = {entry(kHeap, kRead), minor(kHeap)};
  const std::vector<Step> write = {entry(kHeap + 8, kWriteProtected), minor(kHeap + 8)};
  const auto play = [](std::initializer_list<std::vector<Step>> parts) {
    std::vector<Step> all;
    for (const std::vector<Step>& part : parts) {
      all.insert(all.end(), part.begin(), part.end());
    }
    return classes_of(all);
  };
  EXPECT_EQ(play({read, write}), (Classes{{"zero-fill", 1}, {"zero-page write", 1}}));
  // The second write is to a page of its own: a copy, after a fork.
  EXPECT_EQ(play({read, write, write}),
            (Classes{{"zero-fill", 1}, {"zero-page write", 1}, {"copy-on-write", 1}}));
  // A page that was written in between is another.
  const std::vector<Step> fresh = {entry(kHeap, kWrite), minor(kHeap)};
  EXPECT_EQ(play({read, fresh, write}), (Classes{{"zero-fill", 2}, {"copy-on-write", 1}}));
}

TEST(FaultClasses, reads_of_another_process_or_page_tell_nothing_of_a_write) {
  EXPECT_EQ(classes_of({entry(kHeap + 0x1000, kRead),
                        minor(kHeap + 0x1000),
                        by_process(200, entry(kHeap, kRead)),
                        by_process(200, minor(kHeap)),
                        entry(kHeap, kWriteProtected),
                        minor(kHeap)})
                .at("copy-on-write"),
            1U);
}

TEST(FaultClasses, without_error_codes_nothing_is_called_a_copy_or_new) {
  EXPECT_EQ(class_of({software(kHeap), minor(kHeap)}), "minor");
  EXPECT_EQ(class_of({software(kHeap), major(kHeap)}), "swap-in");
  EXPECT_EQ(class_of({software(kPrivateFile), minor(kPrivateFile)}), "file minor");
  EventScript script("faults", {.by = {"class"}});
  map_all(script);
  script.play({software(kHeap), minor(kHeap)});
  EXPECT_TRUE(
      has_note(script.finish(), "zero-fill and copy-on-write faults are not distinguished"));
}

TEST(FaultClasses, without_mappings_faults_are_minor_and_major_and_a_note_says_why) {
  EventScript script("faults", {.by = {"class"}});
  script.play({entry(kHeap), minor(kHeap), entry(kHeap), major(kHeap)});
  const Report report = script.finish();
  EXPECT_EQ(figure(report, {text("minor")}, "count"), number(1));
  EXPECT_EQ(figure(report, {text("major")}, "count"), number(1));
  EXPECT_TRUE(has_note(report, "mappings of data"));
}

TEST(FaultClasses, stack_that_grows_in_the_fault_is_known_at_its_end) {
  EventScript script("faults", {.by = {"class"}});
  map_all(script);
  script.play(entry(kStack - 0x1000));
  map(script, {kStack - 0x1000, 0x11000, AreaKind::Stack, "[stack]"});
  script.play(minor(kStack - 0x1000));
  EXPECT_EQ(figure(script.finish(), {text("zero-fill")}, "count"), number(1));
}

TEST(FaultClasses, swap_makes_zero_fill_uncertain) {
  EventScript script("faults", {.by = {"class"}});
  map_all(script);
  script.world().note_vmstat_growth({{"pswpout", 3}});
  script.play({entry(kHeap), minor(kHeap)});
  EXPECT_TRUE(has_note(script.finish(), "swap cache"));
}

TEST(FaultLatency, is_from_the_entry_to_the_end_of_the_same_thread) {
  EventScript script("faults", {.by = {"pid"}});
  script.play({at(1000, by_thread(101, entry(0x1000))),
               at(1500, by_thread(102, entry(0x1000))),
               at(3000, by_thread(101, minor(0x1000))),
               at(9500, by_thread(102, major(0x1000)))});
  const Report report = script.finish();
  EXPECT_EQ(figure(report, {number(100)}, "max"), number(8000));
  EXPECT_EQ(figure(report, {number(100)}, "avg"), number(5000));
  EXPECT_EQ(figure(report, {number(100)}, "time"), number(10000));
  EXPECT_EQ(figure(report, {number(100)}, "p99"), number(8000));
  ASSERT_EQ(report.histograms.size(), 1U);
  std::map<std::uint64_t, std::uint64_t> filled;
  for (const Histogram::Bucket& bucket : report.histograms[0].buckets) {
    if (bucket.count > 0) {
      filled[bucket.low] = bucket.count;
    }
  }
  EXPECT_EQ(filled, (std::map<std::uint64_t, std::uint64_t>{{1024, 1}, {4096, 1}}));
}

TEST(FaultLatency, is_blank_without_entry_or_end) {
  EventScript script("faults", {.by = {"class"}});
  script.play({minor(0x1000), entry(0x2000)});
  const Report report = script.finish();
  EXPECT_EQ(figure(report, {text("minor")}, "avg"), Cell());
  EXPECT_EQ(figure(report, {text("failed")}, "avg"), Cell());
  EXPECT_TRUE(report.histograms.empty());
}

TEST(FaultLatency, fault_of_kernel_code_within_another_fault_leaves_it_whole) {
  EventScript script("faults", {.by = {"mode"}});
  script.play({at(1000, entry(0x1000)),
               at(1200, kernel_entry(0x9000)),
               at(1300, minor(0x9000, kKernelIp)),
               at(2000, minor(0x1000))});
  const Report report = script.finish();
  EXPECT_EQ(figure(report, {text("user")}, "max"), number(1000));
  EXPECT_EQ(figure(report, {text("kernel")}, "max"), number(100));
  EXPECT_EQ(total(report, "count"), 2U);
}

TEST(FaultTrace, lists_each_fault_once_in_the_order_of_their_ends) {
  EventScript script("faults", {.own = {{"trace", "1"}}});
  map_all(script);
  script.name_process(100, "puppet");
  script.play({at(1000, by_thread(101, entry(kPrivateFile + 0x2010, kRead))),
               at(2000, by_thread(102, entry(kHeap))),
               at(2500, by_thread(102, minor(kHeap))),
               at(4000, by_thread(101, major(kPrivateFile + 0x2010)))});
  const Table trace = script.lines({.start_ns = 500, .end_ns = 5000});
  ASSERT_EQ(trace.rows.size(), 2U);
  const std::vector<Cell> first = {number(500),
                                   text("puppet"),
                                   number(100),
                                   number(101),
                                   number(kPrivateFile + 0x2010),
                                   text("read"),
                                   text("file major"),
                                   number(3000),
                                   number(0x9010),
                                   text("/lib/libc.so.6")};
  std::vector<Cell> listed = trace.rows[1];
  listed.pop_back();  // the code has a test of its own
  EXPECT_EQ(listed, first);
  EXPECT_EQ(trace.rows[0][column_index(trace, "file")], text("[heap]"));
  EXPECT_EQ(trace.rows[0][column_index(trace, "offset")], Cell());
  EXPECT_TRUE(script.lines().rows.empty());
  EXPECT_EQ(script.finish().tables.size(), 1U) << "lines are no part of the report";
}

TEST(FaultTrace, lists_faults_of_kernel_code_with_their_mode_when_they_count) {
  for (const bool by_mode : {false, true}) {
    EventScript script(
        "faults",
        {.by = by_mode ? std::vector<std::string>{"mode"} : std::vector<std::string>{},
         .own = {{"trace", "1"}}});
    script.play({kernel_entry(0x1000), minor(0x1000, kKernelIp)});
    const Table trace = script.lines();
    ASSERT_EQ(trace.rows.size(), by_mode ? 1U : 0U);
    if (by_mode) {
      EXPECT_EQ(trace.rows[0][column_index(trace, "mode")], text("kernel"));
      EXPECT_EQ(trace.rows[0].size(), trace.columns.size());
    }
  }
}

TEST(FaultTrace, fault_under_way_is_listed_when_it_ends) {
  EventScript script("faults", {.own = {{"trace", "1"}}});
  script.play(entry(0x1000));
  EXPECT_TRUE(script.lines().rows.empty());
  script.play(minor(0x1000));
  EXPECT_EQ(script.lines().rows.size(), 1U);
}

TEST(FaultTrace, fault_that_never_ends_is_listed_with_the_report_and_not_again) {
  EventScript script("faults", {.own = {{"trace", "1"}}});
  script.play(entry(0x1000));
  script.finish();
  EXPECT_EQ(script.lines().rows.size(), 1U);
  script.play(minor(0x1000));
  EXPECT_TRUE(script.lines().rows.empty());
}

TEST(FaultTrace, fault_that_a_signal_ended_is_listed_at_once) {
  EventScript script("faults", {.own = {{"trace", "1"}}});
  script.play({entry(0x1000), signal_to(100, SIGSEGV)});
  EXPECT_EQ(script.lines().rows.size(), 1U);
  EXPECT_TRUE(script.lines().rows.empty());
}

TEST(FaultTrace, lines_have_stacks_if_they_are_asked_for) {
  EventScript script("faults", {.by = {"stack"}, .own = {{"trace", "1"}}});
  script.play({entry(0x1000), minor(0x1000)});
  EXPECT_EQ(script.lines().columns.back().unit, Unit::Stack);
}

}  // namespace
}  // namespace memtrace::test::fault_classes_test
