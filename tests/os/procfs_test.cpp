#include "os/procfs.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>

#include "base/text.h"

namespace memtrace {
namespace {

std::uint32_t own_pid() {
  return static_cast<std::uint32_t>(::getpid());
}

TEST(Procfs, a_line_of_maps_is_taken_apart) {
  const auto line = parse_maps_line(
      "7f3a00001000-7f3a00003000 r-xp 00002000 fe:01 1234                       /usr/lib/a b.so");
  ASSERT_TRUE(line.has_value());
  EXPECT_EQ(line->start, 0x7f3a00001000U);
  EXPECT_EQ(line->limit, 0x7f3a00003000U);
  EXPECT_EQ(line->permissions, "r-xp");
  EXPECT_TRUE(line->executable());
  EXPECT_EQ(line->file_offset, 0x2000U);
  EXPECT_EQ(line->major, 0xfeU);
  EXPECT_EQ(line->minor, 1U);
  EXPECT_EQ(line->inode, 1234U);
  EXPECT_EQ(line->path, "/usr/lib/a b.so");
}

TEST(Procfs, a_mapping_without_a_file_has_no_path) {
  for (const char* text : {"1000-2000 rw-p 00000000 00:00 0 ", "1000-2000 rw-p 00000000 00:00 0"}) {
    const auto line = parse_maps_line(text);
    ASSERT_TRUE(line.has_value());
    EXPECT_EQ(line->path, "");
    EXPECT_FALSE(line->executable());
  }
}

TEST(Procfs, blanks_and_newlines_stay_in_a_path) {
  EXPECT_EQ(parse_maps_line("1000-2000 r--p 0 00:00 7   /tmp/ a  b ")->path, "/tmp/ a  b ");
  EXPECT_EQ(parse_maps_line("1000-2000 r--p 0 00:00 7   /tmp/a\\012b")->path, "/tmp/a\\012b");
  EXPECT_EQ(parse_maps_line("1000-2000 r--p 0 00:00 7   /x 1000-2000 rwxp 0 00:00 7 /y")->path,
            "/x 1000-2000 rwxp 0 00:00 7 /y");
}

TEST(Procfs, a_line_of_maps_that_is_cut_off_is_none) {
  const std::string whole = "7f3a00001000-7f3a00003000 r-xp 00002000 fe:01 1234 /a";
  for (std::size_t bytes = 0; bytes < whole.find(" 1234"); ++bytes) {
    EXPECT_FALSE(parse_maps_line(whole.substr(0, bytes)).has_value()) << bytes;
  }
  EXPECT_FALSE(parse_maps_line("2000-1000 r-xp 00002000 fe:01 1234 /a").has_value());
  EXPECT_FALSE(parse_maps_line("1000-2000-3000 r-xp 00002000 fe:01 1234 /a").has_value());
  EXPECT_FALSE(parse_maps_line("1000-2000 r-x 00002000 fe:01 1234 /a").has_value());
  EXPECT_FALSE(parse_maps_line("KernelPageSize:        4 kB").has_value());
}

TEST(Procfs, every_line_of_our_own_maps_is_understood) {
  const std::string maps = proc_text(own_pid(), "maps");
  ASSERT_FALSE(maps.empty());
  for (const std::string_view line : split(trim(maps), '\n')) {
    EXPECT_TRUE(parse_maps_line(line).has_value()) << line;
  }
}

// maps writes eight digits and more, map_files as few as there are.
TEST(Procfs, links_to_mapped_files_have_no_zeros_in_front) {
  EXPECT_EQ(map_files_path(12, 0x400000, 0x7f0000001000), "/proc/12/map_files/400000-7f0000001000");
}

TEST(Procfs, a_removed_file_loses_what_the_kernel_appended) {
  EXPECT_EQ(without_deleted("/tmp/a (deleted)"), "/tmp/a");
  EXPECT_EQ(without_deleted("/tmp/a (deleted) (deleted)"), "/tmp/a (deleted)");
  EXPECT_EQ(without_deleted("/tmp/a(deleted)"), "/tmp/a(deleted)");
  EXPECT_EQ(without_deleted(""), "");
}

TEST(Procfs, the_name_in_stat_may_hold_anything) {
  const auto stat = parse_stat("7 (a) R 1 (b\n) S 9) Z 12 7 7 0 -1 4194564 80 0\n");
  ASSERT_TRUE(stat.has_value());
  EXPECT_EQ(stat->state, 'Z');
  EXPECT_TRUE(stat->has_ended());
  EXPECT_EQ(stat->parent_pid, 12U);
  EXPECT_EQ(stat->flags, 4194564U);
}

TEST(Procfs, a_stat_that_is_cut_off_says_what_it_has) {
  EXPECT_FALSE(parse_stat("").has_value());
  EXPECT_FALSE(parse_stat("7").has_value());
  EXPECT_FALSE(parse_stat("7 (a").has_value());
  EXPECT_FALSE(parse_stat("7 (a)").has_value());
  EXPECT_FALSE(parse_stat("7 (a) ").has_value());
  const auto stat = parse_stat("7 (a) S");
  ASSERT_TRUE(stat.has_value());
  EXPECT_EQ(stat->state, 'S');
  EXPECT_EQ(stat->parent_pid, 0U);
  EXPECT_EQ(stat->flags, 0U);
}

TEST(Procfs, our_own_stat_names_our_parent) {
  const auto stat = parse_stat(proc_text(own_pid(), "stat"));
  ASSERT_TRUE(stat.has_value());
  EXPECT_EQ(stat->parent_pid, static_cast<std::uint32_t>(::getppid()));
  EXPECT_FALSE(stat->has_ended());
}

TEST(Procfs, a_name_keeps_its_blanks_and_newlines) {
  EXPECT_EQ(parse_comm(" a b \n"), " a b ");
  EXPECT_EQ(parse_comm("a\n\n"), "a\n");
  EXPECT_EQ(parse_comm("\n"), "");
  EXPECT_EQ(parse_comm(""), "");
}

TEST(Procfs, a_field_is_the_line_with_exactly_this_name) {
  constexpr std::string_view kStatus = "Name:\tVmRSS: 7\nVmRSSX:\t1 kB\nVmRSS:\t   1234 kB\nEnd:";
  EXPECT_EQ(proc_field(kStatus, "VmRSS"), "1234 kB");
  EXPECT_EQ(proc_number(kStatus, "VmRSS"), 1234U);
  EXPECT_EQ(proc_bytes(kStatus, "VmRSS"), 1234U * 1024);
  EXPECT_EQ(proc_field(kStatus, "Name"), "VmRSS: 7");
  EXPECT_EQ(proc_field(kStatus, "End"), "");
  EXPECT_EQ(proc_field(kStatus, "Vm"), "");
  EXPECT_FALSE(proc_number(kStatus, "End").has_value());
  EXPECT_FALSE(proc_number(kStatus, "Name").has_value());
  EXPECT_FALSE(proc_bytes("", "VmRSS").has_value());
  EXPECT_EQ(proc_field("processor\t: 0\nmodel name\t: A B\n", "model name"), "A B");
}

TEST(Procfs, users_of_a_process_are_four) {
  EXPECT_EQ(status_uids("Name:\tx\nUid:\t1\t2\t3\t4\nGid:\t5\t5\t5\t5\n"),
            (std::vector<std::uint32_t>{1, 2, 3, 4}));
  EXPECT_EQ(status_uids("Uid:\t1000\t10"), (std::vector<std::uint32_t>{1000, 10}));
  EXPECT_EQ(status_uids("Uid:\t-1\t0\t0\t0\n"), std::vector<std::uint32_t>{});
  EXPECT_EQ(status_uids("Uid:\t4294967296\t0\t0\t0\n"), std::vector<std::uint32_t>{});
  EXPECT_EQ(status_uids("Uid:"), std::vector<std::uint32_t>{});
}

TEST(Procfs, the_path_of_a_cgroup_may_hold_colons) {
  const auto line = parse_cgroup_line("5:cpu,cpuacct:/a:b/c d");
  ASSERT_TRUE(line.has_value());
  EXPECT_EQ(line->hierarchy, 5U);
  EXPECT_TRUE(line->has("cpuacct"));
  EXPECT_FALSE(line->has("cpua"));
  EXPECT_EQ(line->path, "/a:b/c d");
  EXPECT_TRUE(parse_cgroup_line("0::/")->has(""));
  EXPECT_FALSE(parse_cgroup_line("").has_value());
  EXPECT_FALSE(parse_cgroup_line("5:memory").has_value());
}

TEST(Procfs, blanks_fill_the_columns_of_a_table) {
  EXPECT_EQ(proc_words("  Node 0,  zone   DMA "),
            (std::vector<std::string_view>{"Node", "0,", "zone", "DMA"}));
  EXPECT_TRUE(proc_words("").empty());
}

TEST(Procfs, load_averages_are_three_words) {
  EXPECT_EQ(parse_load_averages("0.20 0.18 0.12 1/80 11206\n"), "0.20 0.18 0.12");
  EXPECT_EQ(parse_load_averages("0.20 0.18"), "");
  EXPECT_EQ(parse_load_averages(""), "");
}

TEST(Procfs, processes_are_found_by_their_numbers) {
  const auto pids = process_ids();
  ASSERT_TRUE(pids.ok());
  EXPECT_NE(std::ranges::find(pids.value(), own_pid()), pids.value().end());
  EXPECT_FALSE(process_ids("/proc/self/no").ok());
}

TEST(Procfs, paths_and_roots_of_processes) {
  EXPECT_EQ(proc_path(12), "/proc/12");
  EXPECT_EQ(proc_path(12, "maps"), "/proc/12/maps");
  EXPECT_EQ(proc_text(0x7ffffffe, "maps"), "");
  EXPECT_EQ(root_directory(own_pid()).substr(0, 1), "/");
  EXPECT_EQ(root_directory(0x7ffffffe), "");
}

}  // namespace
}  // namespace memtrace
