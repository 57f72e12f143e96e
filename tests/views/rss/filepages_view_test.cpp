#include "views/fault/fault_script.h"

namespace memtrace::test::filepages_view_test {
namespace {

constexpr std::uint64_t kFile = 0x10000000;
constexpr std::uint64_t kSharedFile = 0x20000000;
constexpr std::uint64_t kHeap = 0x30000000;
constexpr std::uint64_t kInode = 77;
constexpr const char* kAdd = "filemap:mm_filemap_add_to_page_cache";
constexpr const char* kDelete = "filemap:mm_filemap_delete_from_page_cache";

Step cache(bool added, std::uint64_t inode, std::uint32_t order = 0) {
  return {
      .event = added ? kAdd : kDelete,
      .payload = PageCacheChange{
          .device_major = 254, .device_minor = 1, .inode = inode, .order = order, .added = added}};
}

Step rss(std::uint64_t pages) {
  return {.event = "kmem:rss_stat",
          .payload = RssStat{
              .mm_id = 5, .is_of_task = true, .member = RssMember::File, .bytes = pages * 4096}};
}

void prepare(EventScript& script) {
  map(script, {kFile, 0x100000, AreaKind::File, "/lib/a.so", 0, false, kInode});
  map(script, {kSharedFile, 0x100000, AreaKind::File, "/data", 0, true, kInode + 1});
  map(script, {kHeap, 0x100000, AreaKind::Heap, "[heap]"});
  for (const char* event : {kAdd, kDelete, "kmem:rss_stat"}) {
    script.type(event);
  }
  EXPECT_TRUE(script.check().ok());
}

Cell of_file(const Report& report, const char* file, const char* column) {
  const Table& table = report.tables.at(1);
  const auto* row = find_row(table, {text(file)});
  EXPECT_NE(row, nullptr) << file;
  return row == nullptr ? text("no row") : (*row)[column_index(table, column)];
}

TEST(FilePages, faults_in_files_count_and_private_writes_are_copies) {
  EventScript script("filepages");
  prepare(script);
  script.name_process(100, "puppet");
  script.play({entry(kFile, kRead),
               major(kFile),
               entry(kFile, kWrite),
               minor(kFile),
               entry(kSharedFile, kWrite),
               minor(kSharedFile),
               entry(kHeap),
               minor(kHeap),
               entry(kSharedFile)});
  const Report report = script.finish();
  const std::vector<Cell> row = {text("puppet"), number(100)};
  EXPECT_EQ(figure(report, row, "fault"), number(3));
  EXPECT_EQ(figure(report, row, "major"), number(1));
  EXPECT_EQ(figure(report, row, "cow"), number(1));
  EXPECT_EQ(of_file(report, "/lib/a.so", "fault"), number(2));
  EXPECT_EQ(of_file(report, "/data", "fault"), number(1));
}

TEST(FilePages, page_cache_is_counted_in_pages_by_process_and_by_the_path_that_is_mapped) {
  EventScript script("filepages", {.by = {"pid"}});
  prepare(script);
  script.play({cache(true, kInode),
               cache(true, kInode, 4),
               by_process(200, cache(false, kInode)),
               by_process(200, cache(true, 9))});
  const Report report = script.finish();
  EXPECT_EQ(figure(report, {number(100)}, "cache_add"), number(17));
  EXPECT_EQ(figure(report, {number(200)}, "cache_del"), number(1));
  EXPECT_EQ(of_file(report, "/lib/a.so", "cache_add"), number(17));
  EXPECT_EQ(of_file(report, "/lib/a.so", "cache_del"), number(1));
  EXPECT_EQ(of_file(report, "device 254:1 inode 9", "cache_add"), number(1));
  EXPECT_EQ(total(report, "cache_add"), 18U);
}

TEST(FilePages, file_that_is_mapped_after_it_was_read_has_its_path) {
  EventScript script("filepages");
  prepare(script);
  script.play(cache(true, 123));
  map(script, {0x50000000, 0x1000, AreaKind::File, "/late", 0, false, 123});
  script.play({entry(0x50000000, kRead), minor(0x50000000)});
  EXPECT_EQ(of_file(script.finish(), "/late", "cache_add"), number(1));
}

TEST(FilePages, file_that_is_read_again_and_again_shows_how_often) {
  EventScript script("filepages");
  prepare(script);
  for (int round = 0; round < 10; ++round) {
    script.play({cache(true, 9, 2), cache(false, 9, 2)});
  }
  script.play(cache(true, 8));
  const Report report = script.finish();
  EXPECT_EQ(of_file(report, "device 254:1 inode 9", "refaults"), number(36));
  EXPECT_EQ(of_file(report, "device 254:1 inode 9", "times"), number(10));
  EXPECT_EQ(of_file(report, "device 254:1 inode 8", "refaults"), number(0));
  EXPECT_EQ(of_file(report, "device 254:1 inode 8", "times"), number(1));
  EXPECT_EQ(of_file(report, "device 254:1 inode 9", "cache_add"), number(40));
}

TEST(FilePages, file_that_was_open_while_recording_has_its_path) {
  EventScript script("filepages");
  prepare(script);
  script.play(cache(true, 9));
  script.world().observations().add(
      {.reader = "files",
       .rows = {{.numbers = {{"major", 254}, {"minor", 1}, {"inode", 9}},
                 .texts = {{"path", "/db/table"}}}}});
  EXPECT_EQ(of_file(script.finish(), "/db/table", "cache_add"), number(1));
}

TEST(FilePages, pages_that_a_process_unmaps_are_its_own) {
  EventScript script("filepages", {.by = {"pid"}});
  prepare(script);
  script.play({rss(40), rss(30), by_process(200, rss(0))});
  const Report report = script.finish();
  EXPECT_EQ(figure(report, {number(100)}, "uunmap"), number(10));
}

TEST(FilePages, pages_are_told_one_by_one_where_there_is_no_sum_of_them)  // RHEL 6
{
  EventScript script("filepages", {.by = {"pid"}});
  script.type("kmem:mm_filemap_userunmap");
  script.type("kmem:mm_filemap_cow");
  ASSERT_TRUE(script.check().ok());
  script.play({page(ResidentChange::GivenBack, RssMember::File),
               page(ResidentChange::GivenBack, RssMember::Anonymous),
               page(ResidentChange::Copied, RssMember::File),
               software(kFile),
               minor(kFile)});
  const Report report = script.finish();
  EXPECT_EQ(figure(report, {number(100)}, "uunmap"), number(1));
  EXPECT_EQ(figure(report, {number(100)}, "cow"), number(1));
  EXPECT_EQ(figure(report, {number(100)}, "kunmap"), Cell());
  EXPECT_TRUE(has_note(report, "kmem:mm_filemap_unmap does not report"));
}

// As of kernels before 3.16, whose records of mappings hold no number of the file.
TEST(FilePages, files_without_a_number_are_told_apart_by_their_paths) {
  EventScript script("filepages");
  prepare(script);
  map(script, {0x40000000, 0x1000, AreaKind::File, "/bin/a", 0, false, 0, false});
  map(script, {0x50000000, 0x1000, AreaKind::File, "/bin/b", 0, false, 0, false});
  map(script, {0x60000000, 0x1000, AreaKind::File, "/lib/a.so", 0, false, 0, false});
  for (const std::uint64_t address : {0x40000000, 0x40000000, 0x50000000, 0x60000000}) {
    script.play({software(address), major(address)});
  }
  script.play({software(kFile), minor(kFile)});  // /lib/a.so, of which the number is known
  const Report report = script.finish();
  EXPECT_EQ(of_file(report, "/bin/a", "major"), number(2));
  EXPECT_EQ(of_file(report, "/bin/b", "major"), number(1));
  EXPECT_EQ(of_file(report, "/lib/a.so", "major"), number(1));
  EXPECT_EQ(of_file(report, "/lib/a.so", "fault"), number(2));
  EXPECT_EQ(report.tables.at(1).rows.size(), 3U);
}

TEST(FilePages, columns_whose_events_are_missing_are_blank_and_said) {
  EventScript script("filepages", {.by = {"pid"}});
  script.play({entry(kFile), minor(kFile)});
  const Report report = script.finish();
  for (const char* column : {"free", "fault", "kunmap", "uunmap", "cache_add", "cache_del"}) {
    EXPECT_EQ(figure(report, {number(100)}, column), Cell()) << column;
  }
  EXPECT_TRUE(has_note(report, "entered the page cache are not known"));
  EXPECT_TRUE(report.inconclusive);
}

TEST(FilePages, every_key_makes_a_row) {
  for (const std::string_view key : find_view("filepages")->spec.keys) {
    EventScript script("filepages", {.by = {std::string(key)}});
    script.play({entry(kFile), minor(kFile)});
    EXPECT_EQ(script.finish().tables[0].rows.size(), 1U) << key;
  }
}

}  // namespace
}  // namespace memtrace::test::filepages_view_test
