#include "state/world/resident_snapshot.h"
#include "views/fault/fault_script.h"

namespace memtrace::test::ledger_view_test {
namespace {

constexpr std::int64_t kPage = 4096;
constexpr std::uint64_t kArea = 0x40000000;
constexpr std::uint64_t kFile = 0x50000000;
constexpr std::uint64_t kStack = 0x7ff00000;
constexpr std::uint64_t kShared = 0x60000000;
constexpr std::uint32_t kMm = 7;

// What kmem:rss_stat says of an address space; the size after each change.
class Sizes {
 public:
  Step change(RssMember member, std::int64_t pages, bool is_of_task = true) {
    std::int64_t& size = pages_.at(static_cast<std::size_t>(member));
    size += pages;
    return {.event = "kmem:rss_stat",
            .payload = RssStat{.mm_id = mm_,
                               .is_of_task = is_of_task,
                               .member = member,
                               .bytes = static_cast<std::uint64_t>(size * kPage)}};
  }

  explicit Sizes(std::uint32_t mm, std::array<std::int64_t, 4> pages = {})
      : mm_(mm), pages_(pages) {}

 private:
  std::uint32_t mm_ = 0;
  std::array<std::int64_t, 4> pages_{};
};

constexpr auto kAnon = RssMember::Anonymous;

// A fault that changes what is resident by pages of one member.
std::vector<Step> fault(std::uint64_t address, const Step& change, std::uint64_t code = kWrite) {
  return {entry(address, code), change, minor(address)};
}

Step begun(SystemCall call, SystemCallArguments arguments) {
  return {.event = "syscalls:sys_enter_x",
          .payload = SystemCallEntry{.call = call, .arguments = arguments}};
}

Step ended(SystemCall call, std::int64_t result = 0) {
  return {.event = "syscalls:sys_exit_x",
          .payload = SystemCallExit{.call = call, .result = result}};
}

std::vector<Step> within(SystemCall call,
                         SystemCallArguments arguments,
                         const Step& change,
                         std::int64_t result = 0) {
  return {begun(call, arguments), change, ended(call, result)};
}

void map_all(EventScript& script) {
  script.play({begun(SystemCall::Brk, {0}), ended(SystemCall::Brk, 0x1000)});
  map(script, {kArea, 4096 * kPage});
  map(script, {kFile, 64 * kPage, AreaKind::File, "/data"});
  map(script, {kShared, 64 * kPage, AreaKind::SharedMemory, "/dev/shm/x", 0, true});
  map(script, {kStack, 64 * kPage, AreaKind::Stack, "[stack]"});
}

EventScript opened(const ViewOptions& options = {}) {
  EventScript script("ledger", options);
  for (const char* event :
       {"exceptions:page_fault_user", "kmem:rss_stat", "syscalls:sys_enter_munmap"}) {
    script.type(event);
  }
  EXPECT_TRUE(script.check().ok());
  script.name_process(100, "puppet");
  map_all(script);
  return script;
}

ResidentSnapshot snapshot(std::int64_t anonymous, std::int64_t file, std::uint32_t pid = 100) {
  ResidentSnapshot read{.pid = pid,
                        .comm = "puppet",
                        .rss_bytes = static_cast<std::uint64_t>((anonymous + file) * kPage)};
  read.parts.anonymous_bytes = static_cast<std::uint64_t>(anonymous * kPage);
  read.parts.mappings["[anon]"].rss_bytes = read.parts.anonymous_bytes;
  read.parts.mappings["/data"].rss_bytes = static_cast<std::uint64_t>(file * kPage);
  return read;
}

void see(EventScript& script,
         std::string_view reader,
         const std::vector<ResidentSnapshot>& processes) {
  Observation observation{.reader = std::string(reader)};
  for (const ResidentSnapshot& process : processes) {
    observation.rows.push_back(facts_of(process));
  }
  script.world().observations().replace(std::move(observation));
}

Cell size(std::int64_t pages) {
  return static_cast<std::uint64_t>(pages * kPage);
}

// Of a residual or a change, whose sign matters.
Cell change(std::int64_t pages) {
  return pages * kPage;
}

const std::vector<Cell> kPuppet = {text("puppet"), number(100)};

// A line of the second table.
Cell line(const Report& report, std::string_view name, std::vector<Cell> keys = kPuppet) {
  keys.push_back(text(name));
  const std::vector<Cell>* row =
      report.tables.size() < 2 ? nullptr : find_row(report.tables[1], keys);
  return row == nullptr ? Cell() : (*row)[column_index(report.tables[1], "bytes")];
}

TEST(Ledger, each_change_has_the_reason_of_what_its_thread_does) {
  EventScript script = opened();
  see(script, kResidentAtBegin, {snapshot(100, 10)});
  Sizes sizes(kMm, {10, 100, 0, 0});
  script.play(fault(kArea, sizes.change(kAnon, 1)));
  script.play(fault(kArea + kPage, sizes.change(kAnon, 1)));
  script.play(fault(kArea + 512 * kPage, sizes.change(kAnon, 512)));
  script.play(fault(kStack, sizes.change(kAnon, 1)));
  script.play(fault(kFile, sizes.change(RssMember::File, 16), kRead));
  script.play(fault(kShared, sizes.change(RssMember::SharedMemory, 1)));
  script.play(within(SystemCall::Munmap, {kArea, 64 * kPage}, sizes.change(kAnon, -2)));
  script.play(within(
      SystemCall::Madvise, {kArea + 512 * kPage, 100 * kPage, 4}, sizes.change(kAnon, -100)));
  see(script, kResidentAtEnd, {snapshot(100 + 413, 27)});
  const Report report = script.finish();
  EXPECT_EQ(line(report, "resident at the start"), size(110));
  EXPECT_EQ(line(report, "anonymous, first touch"), change(2));
  EXPECT_EQ(line(report, "anonymous, huge pages"), change(512));
  EXPECT_EQ(line(report, "stack"), change(1));
  EXPECT_EQ(line(report, "file, page of a fault"), change(1));
  EXPECT_EQ(line(report, "file, mapped around a fault"), change(15));
  EXPECT_EQ(line(report, "shared memory"), change(1));
  EXPECT_EQ(line(report, "unmapped"), change(-2));
  EXPECT_EQ(line(report, "madvise"), change(-100));
  EXPECT_EQ(line(report, "resident at the end"), size(540));
  EXPECT_EQ(line(report, "residual"), change(0));
  EXPECT_EQ(figure(report, kPuppet, "added"), size(532));
  EXPECT_EQ(figure(report, kPuppet, "freed"), size(102));
  EXPECT_EQ(figure(report, kPuppet, "residual"), change(0));
  EXPECT_EQ(figure(report, kPuppet, "peak"), size(642));
}

TEST(Ledger, copy_of_a_file_page_replaces_it) {
  EventScript script = opened();
  see(script, kResidentAtBegin, {snapshot(0, 10)});
  Sizes sizes(kMm, {10, 0, 0, 0});
  script.play({entry(kFile, kWriteProtected),
               sizes.change(RssMember::File, -1),
               sizes.change(kAnon, 1),
               minor(kFile)});
  script.play(fault(kFile + kPage, sizes.change(kAnon, 1)));  // it was not mapped yet
  see(script, kResidentAtEnd, {snapshot(2, 9)});
  const Report report = script.finish();
  EXPECT_EQ(line(report, "anonymous, copy on write"), change(2));
  EXPECT_EQ(line(report, "file, replaced by a copy"), change(-1));
  EXPECT_EQ(line(report, "residual"), change(0));
}

TEST(Ledger, what_others_take_is_swapped_out_or_reclaimed_and_comes_back) {
  EventScript script = opened();
  see(script, kResidentAtBegin, {snapshot(100, 10)});
  Sizes sizes(kMm, {10, 100, 0, 0});
  script.play(fault(kArea, sizes.change(kAnon, 1)));
  const auto by_kswapd = [&](RssMember member, std::int64_t pages) {
    return by_process(50, sizes.change(member, pages, false));
  };
  script.play(
      {by_kswapd(RssMember::File, -4), by_kswapd(kAnon, -3), by_kswapd(RssMember::Swap, 3)});
  script.play({entry(kArea + 9 * kPage),
               sizes.change(kAnon, 1),
               sizes.change(RssMember::Swap, -1),
               major(kArea + 9 * kPage)});
  see(script, kResidentAtEnd, {snapshot(99, 6)});
  const Report report = script.finish();
  EXPECT_EQ(line(report, "swapped out"), change(-3));
  EXPECT_EQ(line(report, "reclaimed"), change(-4));
  EXPECT_EQ(line(report, "anonymous, swapped in"), change(1));
  EXPECT_EQ(line(report, "anonymous, first touch"), change(1));
  EXPECT_EQ(line(report, "residual"), change(0));
  EXPECT_EQ(figure(report, kPuppet, "taken"), size(7));
}

TEST(Ledger, child_begins_with_nothing_and_ends_with_nothing) {
  EventScript script = opened();
  Sizes child(8);
  script.play(child.change(RssMember::File, 5, false));  // the parent copies
  script.play(child.change(kAnon, 3, false));
  script.world().fork({.pid = 200, .parent_pid = 100, .tid = 200, .parent_tid = 100});
  script.name_process(200, "child");
  const auto of_child = [](Step step) { return by_process(200, std::move(step)); };
  script.play({of_child(entry(kArea)), of_child(child.change(kAnon, 1)), of_child(minor(kArea))});
  script.play({of_child(child.change(kAnon, -4, false)),
               of_child(child.change(RssMember::File, -5, false))});
  const Report report = script.finish();
  const std::vector<Cell> keys = {text("child"), number(200)};
  EXPECT_EQ(line(report, "resident at the start", keys), size(0));
  EXPECT_EQ(line(report, "copied by fork", keys), change(8));
  EXPECT_EQ(line(report, "anonymous, first touch", keys), change(1));
  EXPECT_EQ(line(report, "exit", keys), change(-9));
  EXPECT_EQ(line(report, "resident at the end", keys), size(0));
  EXPECT_EQ(line(report, "residual", keys), change(0));
  EXPECT_EQ(figure(report, keys, "peak"), size(9));
}

TEST(Ledger, new_program_gives_the_pages_of_the_old_one_back) {
  EventScript script = opened();
  script.world().fork({.pid = 100, .parent_pid = 1, .tid = 100, .parent_tid = 1});
  map_all(script);
  Sizes old(kMm);
  Sizes fresh(9);
  script.play(fault(kArea, old.change(kAnon, 1)));
  script.play(fresh.change(kAnon, 1, false));  // arguments
  script.play(old.change(kAnon, -1, false));
  script.world().exec(100);
  map_all(script);
  script.play(fault(kArea, fresh.change(kAnon, 1)));
  see(script, kResidentAtEnd, {snapshot(2, 0)});
  const Report report = script.finish();
  EXPECT_EQ(line(report, "exec"), change(-1));
  EXPECT_EQ(line(report, "by the kernel, no fault"), change(1));
  EXPECT_EQ(line(report, "anonymous, first touch"), change(2));
  EXPECT_EQ(line(report, "residual"), change(0));
}

TEST(Ledger, process_that_only_ends_gives_back_what_it_had) {
  EventScript script = opened();
  see(script, kResidentAtBegin, {snapshot(6, 4)});
  Sizes sizes(kMm, {4, 6, 0, 0});
  script.play({sizes.change(kAnon, -2, false),
               sizes.change(kAnon, -4, false),
               sizes.change(RssMember::File, -4, false)});
  script.world().exit(100, 100);
  const Report report = script.finish();
  EXPECT_EQ(line(report, "exit"), change(-10));
  EXPECT_EQ(line(report, "resident at the end"), size(0));
  EXPECT_EQ(line(report, "residual"), change(0));
}

TEST(Ledger, what_no_event_explains_is_the_residual) {
  EventScript script = opened();
  see(script, kResidentAtBegin, {snapshot(100, 0)});
  Sizes sizes(kMm, {0, 100, 0, 0});
  script.play(fault(kArea, sizes.change(kAnon, 1)));
  see(script, kResidentAtEnd, {snapshot(200, 0)});
  const Report report = script.finish();
  EXPECT_EQ(figure(report, kPuppet, "residual"), change(99));
  EXPECT_EQ(figure(report, kPuppet, "residual_share"), Cell(49.5));
}

TEST(Ledger, changes_before_the_reading_of_proc_are_in_it) {
  EventScript script = opened();
  ResidentSnapshot before = snapshot(3, 0);
  before.parts.read_from_ns = 100;
  before.parts.read_to_ns = 200;
  see(script, kResidentAtBegin, {before});
  Sizes sizes(kMm, {0, 0, 0, 0});
  for (const std::uint64_t time_ns : {50U, 90U, 150U, 250U}) {
    script.play({at(time_ns, entry(kArea + time_ns * 4096)),
                 at(time_ns, sizes.change(kAnon, 1)),
                 at(time_ns, minor(kArea + time_ns * 4096))});
  }
  see(script, kResidentAtEnd, {snapshot(4, 0)});
  const Report report = script.finish();
  EXPECT_EQ(line(report, "anonymous, first touch"), change(1));
  EXPECT_EQ(line(report, "residual"), change(0));
  EXPECT_TRUE(has_note(report, "4.0 KiB changed while /proc was read"));
}

TEST(Ledger, changes_after_the_last_reading_of_proc_are_not_in_it) {
  EventScript script = opened();
  see(script, kResidentAtBegin, {snapshot(3, 0)});
  ResidentSnapshot after = snapshot(4, 0);
  after.parts.read_to_ns = 200;
  see(script, kResidentAtEnd, {after});
  Sizes sizes(kMm, {0, 3, 0, 0});
  for (const std::uint64_t time_ns : {50U, 250U}) {
    script.play({at(time_ns, entry(kArea + time_ns * 4096)),
                 at(time_ns, sizes.change(kAnon, 1)),
                 at(time_ns, minor(kArea + time_ns * 4096))});
  }
  const Report report = script.finish();
  EXPECT_EQ(line(report, "anonymous, first touch"), change(1));
  EXPECT_EQ(line(report, "residual"), change(0));
}

TEST(Ledger, mappings_have_ledgers_of_their_own) {
  EventScript script = opened({.by = {"mapping"}});
  see(script, kResidentAtBegin, {snapshot(100, 10)});
  Sizes sizes(kMm, {10, 100, 0, 0});
  script.play(fault(kArea, sizes.change(kAnon, 1)));
  script.play(fault(kFile, sizes.change(RssMember::File, 8), kRead));
  script.play(begun(SystemCall::Mmap, {0, 64 * kPage, 1, 0x8002}));
  map(script, {kFile, 64 * kPage, AreaKind::File, "/data"});
  script.play({sizes.change(RssMember::File, 20), ended(SystemCall::Mmap, kFile)});
  script.play(by_process(50, sizes.change(kAnon, -5, false)));
  see(script, kResidentAtEnd, {snapshot(96, 38)});
  const Report report = script.finish();
  EXPECT_EQ(figure(report, {text("/data")}, "rss_begin"), size(10));
  EXPECT_EQ(figure(report, {text("/data")}, "added"), size(28));
  EXPECT_EQ(figure(report, {text("/data")}, "residual"), change(0));
  EXPECT_EQ(line(report, "by a call (MAP_POPULATE)", {text("/data")}), change(20));
  EXPECT_EQ(figure(report, {text("[anon]")}, "residual"), change(-5));
  EXPECT_EQ(figure(report, {text("(not known)")}, "taken"), size(5));
  EXPECT_EQ(figure(report, {text("(not known)")}, "residual"), Cell());
}

TEST(Ledger, interval_begins_where_the_one_before_it_ended) {
  EventScript script = opened();
  see(script, kResidentAtBegin, {snapshot(100, 0)});
  Sizes sizes(kMm, {0, 100, 0, 0});
  script.play(fault(kArea, sizes.change(kAnon, 1)));
  see(script, kResidentAtEnd, {snapshot(101, 0)});
  (void)script.finish();
  script.play(fault(kArea + kPage, sizes.change(kAnon, 1)));
  see(script, kResidentAtEnd, {snapshot(102, 0)});
  const Report report = script.finish();
  EXPECT_EQ(line(report, "resident at the start"), size(101));
  EXPECT_EQ(line(report, "anonymous, first touch"), change(1));
  EXPECT_EQ(line(report, "residual"), change(0));
}

TEST(Ledger, without_the_counter_faults_and_page_tables_explain_it) {
  EventScript script("ledger");
  for (const char* event : {"exceptions:page_fault_user", "syscalls:sys_enter_munmap"}) {
    script.type(event);
  }
  ASSERT_TRUE(script.check().ok());
  map_all(script);
  ResidentSnapshot before = snapshot(4, 0);
  before.runs = {{kArea / 4096 + 100, kArea / 4096 + 104}};
  see(script, kResidentAtBegin, {before});
  for (std::uint64_t i = 0; i < 8; ++i) {
    script.play({entry(kArea + i * 4096), minor(kArea + i * 4096)});
  }
  script.play(entry(kFile, kRead));
  script.play({begun(SystemCall::Munmap, {kArea, 2 * kPage}), ended(SystemCall::Munmap)});
  ResidentSnapshot after = snapshot(5 + 3, 4);
  after.runs = {{kArea / 4096 + 2, kArea / 4096 + 7},  // of the eight one was swapped out
                {kArea / 4096 + 100, kArea / 4096 + 103},
                {kFile / 4096, kFile / 4096 + 4}};
  see(script, kResidentAtEnd, {after});
  const Report report = script.finish();
  EXPECT_EQ(line(report, "resident at the start"), size(4));
  EXPECT_EQ(line(report, "anonymous, first touch"), change(8));
  EXPECT_EQ(line(report, "file, page of a fault"), change(1));
  EXPECT_EQ(line(report, "file, mapped around a fault"), change(3));
  EXPECT_EQ(line(report, "unmapped"), change(-2));
  EXPECT_EQ(line(report, "reclaimed"), change(-1));
  EXPECT_EQ(line(report, "given back of the start"), change(-1));
  EXPECT_EQ(line(report, "residual"), change(0));
  EXPECT_TRUE(has_note(report, "lacks kmem:rss_stat"));
}

TEST(Ledger, exit_that_no_event_shows_is_known_by_difference) {
  EventScript script = opened();
  see(script, kResidentAtBegin, {snapshot(6, 4)});
  Sizes sizes(kMm, {4, 6, 0, 0});
  script.play(fault(kArea, sizes.change(kAnon, 1)));
  script.world().exit(100, 100);
  const Report report = script.finish();
  EXPECT_EQ(line(report, "exit, by difference"), change(-11));
  EXPECT_EQ(line(report, "exit"), Cell());
  EXPECT_EQ(line(report, "resident at the end"), size(0));
  EXPECT_EQ(line(report, "residual"), Cell()) << "nothing checks it";
  EXPECT_EQ(figure(report, kPuppet, "residual_share"), Cell());
  EXPECT_TRUE(has_note(report, "the residual of 1 process that ended is not known"));
}

// As of a shell's children when a command is recorded: each gets the memory of the one before it.
TEST(Ledger, address_space_in_the_place_of_one_that_ended_unseen_is_anothers) {
  EventScript script = opened();
  see(script, kResidentAtBegin, {snapshot(6, 4)});
  Sizes sizes(kMm, {4, 6, 0, 0});
  script.play(fault(kArea, sizes.change(kAnon, 1)));
  script.world().exit(100, 100);
  const auto of_child = [](Step step) { return by_process(200, std::move(step)); };
  script.world().fork({.pid = 200, .parent_pid = 1, .tid = 200, .parent_tid = 1});
  Sizes fresh(kMm);
  script.play(of_child(fresh.change(kAnon, 1, false)));  // arguments
  script.world().exec(200);
  script.name_process(200, "child");
  map(script, {.start = kArea, .bytes = 64 * kPage, .pid = 200});
  script.play({of_child(entry(kArea)), of_child(fresh.change(kAnon, 2)), of_child(minor(kArea))});
  see(script, kResidentAtEnd, {snapshot(3, 0, 200)});
  const Report report = script.finish();
  const std::vector<Cell> child = {text("puppet"), number(200)};
  EXPECT_EQ(line(report, "resident at the start", child), size(0));
  EXPECT_EQ(line(report, "anonymous, first touch", child), change(2));
  EXPECT_EQ(line(report, "by the kernel, no fault", child), change(1));
  EXPECT_EQ(line(report, "residual", child), change(0));
  EXPECT_EQ(line(report, "reclaimed"), Cell());
  EXPECT_EQ(line(report, "exit, by difference"), change(-11));
}

TEST(Ledger, copy_that_the_kernel_makes_itself_is_a_copy) {
  EventScript script = opened();
  see(script, kResidentAtBegin, {snapshot(6, 4)});
  Sizes sizes(kMm, {4, 6, 0, 0});
  script.play({sizes.change(RssMember::File, -1), sizes.change(kAnon, 1)});
  script.play({sizes.change(RssMember::File, -1), sizes.change(RssMember::File, -1)});
  const Report report = script.finish();
  EXPECT_EQ(line(report, "anonymous, copy on write"), change(1));
  EXPECT_EQ(line(report, "file, replaced by a copy"), change(-1));
  EXPECT_EQ(line(report, "reclaimed"), change(-2));
}

TEST(Ledger, kernels_that_count_faults_together_are_said) {
  EventScript script = opened();
  see(script, kResidentAtBegin, {snapshot(6, 4)});
  Sizes sizes(kMm, {4, 6, 0, 0});
  script.play(fault(kArea, sizes.change(kAnon, 64)));
  script.play(fault(kArea + 64 * kPage, sizes.change(kAnon, 64)));
  see(script, kResidentAtEnd, {snapshot(134, 4)});
  const Report report = script.finish();
  EXPECT_EQ(line(report, "anonymous, first touch"), change(128));
  EXPECT_EQ(line(report, "residual"), change(0));
  EXPECT_TRUE(has_note(report, "64 faults of a thread together"));
  EXPECT_TRUE(
      has_note(report, "up to 64 pages of each thread that still runs are in the residual"));
}

TEST(Ledger, heap_that_was_recorded_is_split_into_live_and_free) {
  EventScript script = opened();
  script.play(heap_alloc(0x5000, 3000));
  script.play(heap_alloc(0x9000, 1000));
  script.play(heap_realloc(0x9000, 0xa000, 2000));
  script.play(heap_alloc(0xb000, 50));
  script.play(heap_free(0xb000));
  see(script, kResidentAtEnd, {snapshot(2, 4)});
  const Report report = script.finish();
  const Table& beside = report.tables.back();
  const std::vector<Cell>* row = find_row(beside, kPuppet);
  ASSERT_NE(row, nullptr);
  EXPECT_EQ((*row)[column_index(beside, "heap_live")], number(5000));
  EXPECT_EQ((*row)[column_index(beside, "heap_free")], Cell(2 * kPage - 5000));
}

TEST(Ledger, time_between_the_last_event_and_the_reading_is_said) {
  EventScript script = opened();
  see(script, kResidentAtBegin, {snapshot(6, 4)});
  Sizes sizes(kMm, {4, 6, 0, 0});
  script.play(fault(kArea, sizes.change(kAnon, 1)));
  ResidentSnapshot last = snapshot(9, 4);
  last.parts.read_to_ns = 1'025'000'000;
  see(script, kResidentAtEnd, {last});
  EXPECT_TRUE(has_note(script.finish(), "up to 25 ms after the last event"));
}

TEST(Ledger, missing_events_are_said) {
  EventScript script("ledger");
  script.type("page-faults");
  ASSERT_TRUE(script.check().ok());
  script.play(weighing(10, software(kArea)));
  const Report report = script.finish();
  for (const char* part : {"kmem:rss_stat", "was only read", "system calls", "one in N faults"}) {
    EXPECT_TRUE(has_note(report, part)) << part;
  }
}

TEST(Ledger, every_key_makes_a_row) {
  for (const std::string_view key : find_view("ledger")->spec.keys) {
    EventScript script = opened({.by = {std::string(key)}});
    Sizes sizes(kMm);
    script.play(fault(kArea, sizes.change(kAnon, 1)));
    script.play(fault(kArea + kPage, sizes.change(kAnon, 1)));
    EXPECT_EQ(script.finish().tables[0].rows.size(), 1U) << key;
  }
}

}  // namespace
}  // namespace memtrace::test::ledger_view_test
