#include "support/event_script.h"
#include "support/truth_rows.h"

namespace memtrace::test {
namespace {

Step dirty(std::uint32_t pid, std::string_view device, std::uint64_t inode) {
  return {.event = "writeback:writeback_dirty_folio",
          .payload = PageDirtied{.device = device, .inode = inode},
          .pid = pid};
}

Step inode_written(std::uint32_t pid, std::string_view device, std::uint64_t pages) {
  return {.event = "writeback:writeback_single_inode",
          .payload = InodeWritten{.device = device, .inode = 12, .pages = pages},
          .pid = pid};
}

Step work_written(std::uint32_t pid, std::uint64_t pages) {
  return {.event = "writeback:writeback_pages_written",
          .payload = PagesWritten{.pages = pages},
          .pid = pid};
}

Step balance(std::uint32_t pid, std::uint64_t pause_ns) {
  return {.event = "writeback:balance_dirty_pages",
          .payload = DirtyBalance{.device = "8:0", .dirtied_pages = 100, .pause_ns = pause_ns},
          .pid = pid};
}

TEST(Writeback, who_dirtied_and_who_wrote_are_told_apart) {
  EventScript script("writeback", {.by = {"pid"}});
  script.play({dirty(1, "8:0", 12), dirty(1, "8:0", 12), dirty(1, "8:16", 9)});
  script.play({inode_written(2, "8:0", 2), work_written(2, 2)});
  const Report report = script.finish();
  EXPECT_EQ(figure(report, {number(1)}, "dirtied"), number(3));
  EXPECT_EQ(figure(report, {number(1)}, "written"), number(0));
  EXPECT_EQ(figure(report, {number(2)}, "written"), number(2));
  EXPECT_EQ(figure(report, {number(2)}, "flushed"), number(2));
  EXPECT_EQ(total(report, "dirtied"), 3U);
}

const Table* find_table(const Report& report, std::string_view title) {
  const auto found = std::ranges::find(report.tables, title, &Table::title);
  return found == report.tables.end() ? nullptr : &*found;
}

Step cached(std::uint64_t inode, std::uint64_t index, std::uint32_t order) {
  return {.event = "filemap:mm_filemap_add_to_page_cache",
          .payload = PageCacheChange{.device_major = 8,
                                     .device_minor = 1,
                                     .inode = inode,
                                     .index = index,
                                     .order = order,
                                     .added = true}};
}

Step dirty_at(std::uint64_t inode, std::uint64_t index) {
  return {.event = "writeback:writeback_dirty_folio",
          .payload = PageDirtied{.device = "8:0", .inode = inode, .index = index},
          .pid = 1};
}

TEST(Writeback, a_large_folio_is_as_many_pages_as_were_put_into_the_page_cache_with_it) {
  EventScript script("writeback", {.by = {"pid"}});
  script.play({cached(12, 0, 8), cached(12, 256, 4), dirty_at(12, 0), dirty_at(12, 256)});
  script.play({dirty_at(12, 272), dirty_at(13, 0)});
  const Report report = script.finish();
  EXPECT_EQ(total(report, "dirtied"), 256U + 16 + 1 + 1);
  const Table* files = find_table(report, "by file");
  ASSERT_NE(files, nullptr);
  EXPECT_EQ(files->rows.at(0).at(column_index(*files, "dirtied")), number(273));
}

TEST(Writeback, dirtied_stands_beside_what_the_kernel_counted) {
  EventScript script("writeback");
  script.world().note_vmstat_growth({{"nr_dirtied", 100'000}});
  script.world().note_all_events(true);
  script.play({cached(12, 0, 9), dirty_at(12, 0)});
  const Report report = script.finish();
  const auto truth = truth_rows(report);
  ASSERT_EQ(truth.size(), 1U);
  EXPECT_EQ(truth[0],
            (std::vector<Cell>{
                text("dirtied"), number(512), text("nr_dirtied"), number(100'000), 0.512}));
  EXPECT_TRUE(has_note(report, "dirtied is 512, but the kernel's nr_dirtied grew by 100,000"));
}

// perf's recordings, and Linux before 6.1.
TEST(Writeback, folios_that_no_event_gives_a_size_are_said) {
  EventScript without("writeback");
  without.type("writeback:writeback_dirty_folio");
  ASSERT_TRUE(without.check().ok());
  EXPECT_TRUE(has_note(without.finish(), "counts each folio as one page"));

  EventScript before("writeback");
  before.type("writeback:writeback_dirty_folio");
  before.add_field("filemap:mm_filemap_add_to_page_cache", "index");
  ASSERT_TRUE(before.check().ok());
  EXPECT_TRUE(has_note(before.finish(), "counts each folio as one page"));

  EventScript known("writeback");
  known.type("writeback:writeback_dirty_folio");
  known.add_field("filemap:mm_filemap_add_to_page_cache", "order");
  ASSERT_TRUE(known.check().ok());
  EXPECT_FALSE(has_note(known.finish(), "counts each folio as one page"));
}

TEST(Writeback, counter_that_did_not_grow_says_nothing) {
  EventScript script("writeback");
  script.world().note_vmstat_growth({{"pgfault", 7}});
  script.world().note_all_events(true);
  script.play(dirty_at(12, 0));
  EXPECT_TRUE(truth_rows(script.finish()).empty());
}

TEST(Writeback, a_part_of_the_machine_is_not_compared_with_all_of_it) {
  EventScript script("writeback");
  script.world().note_vmstat_growth({{"nr_dirtied", 100'000}});
  script.play(dirty_at(12, 0));
  const Report report = script.finish();
  EXPECT_FALSE(has_note(report, "nr_dirtied"));
  EXPECT_TRUE(truth_rows(report).empty());
}

TEST(Writeback, devices_have_a_table_of_their_own) {
  EventScript script("writeback");
  script.play({dirty(1, "8:0", 12), dirty(1, "8:16", 9), inode_written(2, "8:0", 5)});
  script.play({work_written(2, 5), balance(1, 1000)});
  const Table devices = script.finish().tables.at(1);
  const auto* row = find_row(devices, {text("8:0")});
  ASSERT_NE(row, nullptr);
  EXPECT_EQ((*row)[column_index(devices, "dirtied")], number(1));
  EXPECT_EQ((*row)[column_index(devices, "written")], number(5));
  EXPECT_EQ((*row)[column_index(devices, "throttles")], number(1));
  EXPECT_EQ(devices.rows.size(), 2U);
}

TEST(Writeback, files_have_a_table_with_their_names) {
  EventScript script("writeback");
  script.world().observations().add(
      {.reader = "files",
       .rows = {{.numbers = {{"major", 8}, {"minor", 0}, {"inode", 12}},
                 .texts = {{"path", "/var/log/messages"}}}}});
  script.play({dirty(1, "8:0", 12), dirty(1, "8:16", 9), dirty(1, "btrfs-1", 7)});
  script.play({inode_written(2, "8:0", 5)});
  const Table files = script.finish().tables.back();
  EXPECT_EQ(files.title, "by file");
  const auto* row = find_row(files, {text("/var/log/messages"), number(1), number(5)});
  EXPECT_NE(row, nullptr);
  EXPECT_NE(find_row(files, {text("device 8:16 inode 9")}), nullptr);
  EXPECT_NE(find_row(files, {text("device btrfs-1 inode 7")}), nullptr);
}

TEST(Writeback, only_who_must_sleep_is_throttled) {
  EventScript script("writeback", {.by = {"pid"}, .own = {{"show", "all"}}});
  script.play({balance(1, 0), balance(2, 1000), balance(2, 3000)});
  const Report report = script.finish();
  EXPECT_EQ(figure(report, {number(1)}, "throttles"), number(0));
  EXPECT_EQ(figure(report, {number(1)}, "balances"), number(1));
  EXPECT_EQ(figure(report, {number(2)}, "balances"), number(2));
  EXPECT_EQ(figure(report, {number(2)}, "throttles"), number(2));
  EXPECT_EQ(figure(report, {number(2)}, "paused_ns"), number(4000));
  EXPECT_EQ(figure(report, {number(2)}, "max_pause_ns"), number(3000));
}

TEST(Writeback, reclaim_pages_out_to_files_and_to_swap) {
  EventScript script("writeback", {.by = {"pid"}});
  script.play({{.event = "vmscan:mm_vmscan_write_folio", .payload = ReclaimWrite{.of_file = true}},
               {.event = "vmscan:mm_vmscan_write_folio", .payload = ReclaimWrite{}},
               {.event = "vmscan:mm_vmscan_write_folio", .payload = ReclaimWrite{}}});
  const Report report = script.finish();
  EXPECT_EQ(figure(report, {number(100)}, "file_pageouts"), number(1));
  EXPECT_EQ(figure(report, {number(100)}, "swap_pageouts"), number(2));
}

TEST(Writeback, without_its_event_what_was_dirtied_is_not_known) {
  EventScript script("writeback", {.by = {"pid"}});
  script.type("writeback:writeback_pages_written");
  ASSERT_TRUE(script.check().ok());
  script.play(work_written(2, 7));
  const Report report = script.finish();
  EXPECT_EQ(figure(report, {number(2)}, "dirtied"), Cell());
  EXPECT_EQ(figure(report, {number(2)}, "written"), Cell());
  EXPECT_EQ(figure(report, {number(2)}, "flushed"), number(7));
  EXPECT_TRUE(has_note(report, "no events writeback_dirty_"));
  EXPECT_TRUE(has_note(report, "no events balance_dirty_pages"));
}

Step round(std::uint64_t at_ns, bool begins, std::int32_t reason, std::uint32_t pid = 2) {
  return {.event = begins ? "writeback:writeback_start" : "writeback:writeback_written",
          .payload = FlushRound{.begins = begins, .reason = reason},
          .at_ns = at_ns,
          .pid = pid};
}

constexpr std::int32_t kSync = 2;
constexpr std::int32_t kPeriodic = 3;

TEST(Writeback, works_of_flusher_threads_are_counted) {
  EventScript script("writeback", {.by = {"pid"}, .own = {{"show", "all"}}});
  script.play({work_written(2, 5), work_written(2, 0), work_written(2, 7)});
  const Report report = script.finish();
  EXPECT_EQ(figure(report, {number(2)}, "flushes"), number(3));
  EXPECT_EQ(figure(report, {number(2)}, "flushed"), number(12));
  EXPECT_EQ(total(report, "flushes"), 3U);
}

TEST(Writeback, what_is_written_in_a_round_has_its_reason) {
  EventScript script("writeback");
  script.play({round(100, true, kPeriodic),
               inode_written(2, "8:0", 5),
               inode_written(7, "8:0", 9),  // by another thread
               inode_written(2, "8:0", 6),
               round(400, false, kPeriodic),
               inode_written(2, "8:0", 50),
               round(500, true, kSync),
               round(600, false, kSync),
               round(700, true, kSync)});
  const Table rounds = script.finish().tables.at(2);
  EXPECT_EQ(rounds.title, "rounds of flusher threads, by reason");
  ASSERT_EQ(rounds.rows.size(), 2U);
  const auto* periodic = find_row(rounds, {text("periodic")});
  ASSERT_NE(periodic, nullptr);
  EXPECT_EQ((*periodic)[column_index(rounds, "rounds")], number(1));
  EXPECT_EQ((*periodic)[column_index(rounds, "written")], number(11));
  EXPECT_EQ((*periodic)[column_index(rounds, "time_ns")], number(300));
  const auto* sync = find_row(rounds, {text("sync")});
  ASSERT_NE(sync, nullptr);
  EXPECT_EQ((*sync)[column_index(rounds, "rounds")], number(1));
  EXPECT_EQ((*sync)[column_index(rounds, "written")], number(0));
}

TEST(Writeback, a_round_that_began_before_is_counted_and_has_no_time) {
  EventScript script("writeback");
  script.play({inode_written(2, "8:0", 5), round(400, false, kPeriodic)});
  const Table rounds = script.finish().tables.at(2);
  EXPECT_EQ(rounds.rows.at(0)[column_index(rounds, "rounds")], number(1));
  EXPECT_EQ(rounds.rows.at(0)[column_index(rounds, "avg_ns")], Cell());
}

std::vector<Step> fsync(std::uint32_t pid, std::vector<Step> meanwhile, std::int64_t result = 0) {
  std::vector<Step> steps = {{.event = "syscalls:sys_enter_fsync",
                              .payload = SystemCallEntry{.call = SystemCall::Fsync},
                              .at_ns = 1000,
                              .pid = pid}};
  steps.insert(steps.end(), meanwhile.begin(), meanwhile.end());
  steps.push_back({.event = "syscalls:sys_exit_fsync",
                   .payload = SystemCallExit{.call = SystemCall::Fsync, .result = result},
                   .at_ns = 5000,
                   .pid = pid});
  return steps;
}

Step disk_write(std::uint32_t pid, std::uint64_t bytes) {
  return {.event = "block:block_bio_queue", .payload = BlockWrite{.bytes = bytes}, .pid = pid};
}

TEST(Writeback, what_a_thread_gives_to_disks_in_fsync_is_what_fsync_wrote) {
  EventScript script("writeback");
  script.name_process(1, "database");
  script.play(disk_write(1, 100));
  script.play(fsync(1, {disk_write(1, 4096), disk_write(3, 70), disk_write(1, 8192)}));
  script.play(disk_write(1, 100));
  script.play(fsync(1, {}, -5));
  const Table calls = script.finish().tables.at(2);
  EXPECT_EQ(calls.title, "calls that wait for the disk, by process");
  const auto* row = find_row(calls, {text("database"), text("fsync")});
  ASSERT_NE(row, nullptr);
  EXPECT_EQ((*row)[column_index(calls, "count")], number(2));
  EXPECT_EQ((*row)[column_index(calls, "failed")], number(1));
  EXPECT_EQ((*row)[column_index(calls, "bytes")], number(12288));
  EXPECT_EQ((*row)[column_index(calls, "time_ns")], number(8000));
  EXPECT_EQ((*row)[column_index(calls, "max_ns")], number(4000));
}

TEST(Writeback, every_key_can_be_asked) {
  for (const std::string_view key : find_view("writeback")->spec.keys) {
    EventScript script("writeback", {.by = {std::string(key)}});
    script.play(dirty(1, "8:0", 12));
    EXPECT_EQ(script.finish().tables[0].rows.size(), 1U) << key;
  }
}

}  // namespace
}  // namespace memtrace::test
