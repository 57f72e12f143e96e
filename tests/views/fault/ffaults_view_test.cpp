#include "views/fault/fault_script.h"

namespace memtrace::test::ffaults_view_test {
namespace {

constexpr std::uint64_t kFile = 0x10000000;
constexpr std::uint64_t kHeap = 0x20000000;

void map_both(EventScript& script) {
  map(script, {kFile, 0x200000, AreaKind::File, "/usr/lib/a.so", 0x100000});
  map(script, {kHeap, 0x10000, AreaKind::Heap, "[heap]"});
}

void fault_at(EventScript& script, std::uint64_t address, bool is_major = false) {
  script.play({entry(address, kRead), is_major ? major(address) : minor(address)});
}

TEST(FileFaults, by_full_path_and_memory_without_a_file_by_its_kind) {
  EventScript script("ffaults");
  map_both(script);
  fault_at(script, kFile);
  fault_at(script, kFile + 0x3000, true);
  fault_at(script, kHeap);
  const Report report = script.finish();
  EXPECT_EQ(figure(report, {text("/usr/lib/a.so")}, "count"), number(2));
  EXPECT_EQ(figure(report, {text("/usr/lib/a.so")}, "major"), number(1));
  EXPECT_EQ(figure(report, {text("[heap]")}, "count"), number(1));
  EXPECT_EQ(total(report, "count"), 3U);
  EXPECT_EQ(total(report, "files"), 2U);
  EXPECT_FALSE(report.inconclusive);
}

TEST(FileFaults, offsets_are_of_the_file_in_ranges) {
  EventScript script("ffaults", {.by = {"file", "offset"}, .own = {{"range", "1M"}}});
  map_both(script);
  fault_at(script, kFile);             // 1 MiB
  fault_at(script, kFile + 0xff000);   // still
  fault_at(script, kFile + 0x100000);  // 2 MiB
  fault_at(script, kHeap + 0x5000);
  const Report report = script.finish();
  EXPECT_EQ(report.tables[0].rows.size(), 3U);
  EXPECT_EQ(figure(report, {text("/usr/lib/a.so"), number(0x100000)}, "count"), number(2));
  EXPECT_EQ(figure(report, {text("/usr/lib/a.so"), number(0x200000)}, "count"), number(1));
  EXPECT_EQ(figure(report, {text("[heap]"), Cell()}, "count"), number(1));
}

TEST(FileFaults, faults_of_kernel_code_count) {
  EventScript script("ffaults", {.by = {"file", "mode"}});
  map_both(script);
  script.play({kernel_entry(kFile), minor(kFile, kKernelIp)});
  EXPECT_EQ(figure(script.finish(), {text("/usr/lib/a.so"), text("kernel")}, "minor"), number(1));
}

TEST(FileFaults, mapping_of_one_process_is_not_anothers) {
  EventScript script("ffaults", {.by = {"pid", "file"}});
  map_both(script);
  map(script,
      {.start = kFile, .bytes = 0x1000, .kind = AreaKind::File, .path = "/other", .pid = 200});
  fault_at(script, kFile);
  script.play({by_process(200, entry(kFile)), by_process(200, minor(kFile))});
  const Report report = script.finish();
  EXPECT_EQ(figure(report, {number(100), text("/usr/lib/a.so")}, "count"), number(1));
  EXPECT_EQ(figure(report, {number(200), text("/other")}, "count"), number(1));
}

TEST(FileFaults, without_mappings_a_note_says_so_and_no_overview_shows_it) {
  EventScript script("ffaults");
  fault_at(script, kFile);
  const Report report = script.finish();
  EXPECT_EQ(figure(report, {text("[unknown]")}, "count"), number(1));
  EXPECT_TRUE(has_note(report, "not known"));
  EXPECT_TRUE(report.inconclusive);
}

TEST(FileFaults, intervals_count_their_own) {
  EventScript script("ffaults");
  map_both(script);
  fault_at(script, kFile);
  EXPECT_EQ(total(script.finish(), "files"), 1U);
  EXPECT_EQ(total(script.finish(), "files"), 0U);
}

TEST(FileFaults, range_that_is_no_size_is_a_usage_error) {
  for (const char* range : {"0", "x", "", "-1"}) {
    const auto made = find_view("ffaults")->spec.make({.own = {{"range", range}}});
    ASSERT_FALSE(made.ok()) << range;
    EXPECT_EQ(made.error().kind, ErrorKind::Usage);
    EXPECT_NE(made.error().hint.find("64K"), std::string::npos);
  }
}

TEST(FileFaults, every_key_makes_a_row) {
  for (const std::string_view key : find_view("ffaults")->spec.keys) {
    EventScript script("ffaults", {.by = {std::string(key)}});
    fault_at(script, kFile);
    EXPECT_EQ(script.finish().tables[0].rows.size(), 1U) << key;
  }
}

}  // namespace
}  // namespace memtrace::test::ffaults_view_test
