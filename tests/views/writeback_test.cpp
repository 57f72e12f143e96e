#include "support/event_script.h"

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

TEST(Writeback, only_who_must_sleep_is_throttled) {
  EventScript script("writeback", {.by = {"pid"}});
  script.play({balance(1, 0), balance(2, 1000), balance(2, 3000)});
  const Report report = script.finish();
  EXPECT_EQ(report.tables[0].rows.size(), 1U);
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

TEST(Writeback, every_key_can_be_asked) {
  for (const std::string_view key : find_view("writeback")->spec.keys) {
    EventScript script("writeback", {.by = {std::string(key)}});
    script.play(dirty(1, "8:0", 12));
    EXPECT_EQ(script.finish().tables[0].rows.size(), 1U) << key;
  }
}

}  // namespace
}  // namespace memtrace::test
