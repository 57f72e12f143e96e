// Which pages are resident, from files of /proc made up for the test.
#include "observe/resident_pages.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "os/system.h"
#include "support/temp_dir.h"

namespace memtrace::test {
namespace {

constexpr std::uint64_t kPresent = std::uint64_t{1} << 63U;
constexpr std::uint64_t kSwapped = std::uint64_t{1} << 62U;

class ResidentPagesTest : public testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) {
    const auto path = std::filesystem::path(dir_.path()) / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }

  // Entries by number of page; all others are 0.
  void write_pagemap(const std::string& name, const std::map<std::uint64_t, std::uint64_t>& pages) {
    std::ofstream file(std::filesystem::path(dir_.path()) / name, std::ios::binary);
    for (const auto& [page, entry] : pages) {
      file.seekp(static_cast<std::streamoff>(page * sizeof(entry)));
      file.write(reinterpret_cast<const char*>(&entry), sizeof(entry));
    }
  }

  // A process with pages 16 to 19, and 32 to 33 of which none is resident.
  void make_process(const std::string& pid) {
    const auto hex = [](std::uint64_t page) {
      std::string text(16, '0');
      for (std::uint64_t address = page * page_size_bytes(), at = 15; address != 0;
           address /= 16, --at) {
        text[at] = "0123456789abcdef"[address % 16];
      }
      return text;
    };
    write(pid + "/comm", "database\n");
    write(pid + "/smaps",
          hex(16) + "-" + hex(20) +
              " rw-p 00000000 00:00 0 \nSize: 16 kB\nRss:  12 kB\nSwap: 4 kB\n" + hex(32) + "-" +
              hex(34) + " r--p 00000000 00:00 0 /x y\nRss:   0 kB\nSwapPss: 4 kB\nSwap:  0 kB\n");
    write_pagemap(pid + "/pagemap",
                  {{16, kPresent}, {17, kSwapped}, {18, kPresent}, {19, kPresent}, {33, kPresent}});
  }

  ResidentPages pages() const { return ResidentPages(dir_.path()); }

  TempDir dir_;
};

TEST_F(ResidentPagesTest, present_pages_of_mappings_with_any_are_told) {
  make_process("12");
  ResidentPages pages = this->pages();
  pages.begin({12, 13});
  const Observation seen = pages.read("resident");
  ASSERT_EQ(seen.rows.size(), 1U);
  ResidentSnapshot expected{.pid = 12,
                            .comm = "database",
                            .rss_bytes = 12 * 1024,
                            .swap_bytes = 4 * 1024,
                            .runs = {{16, 17}, {18, 20}}};
  expected.parts.mappings["[anon]"] = {.rss_bytes = 12 * 1024, .swap_bytes = 4 * 1024};
  auto read = resident_snapshot(seen.rows[0]);
  ASSERT_TRUE(read);
  EXPECT_LE(read->parts.read_from_ns, read->parts.read_to_ns);
  read->parts.read_from_ns = read->parts.read_to_ns = 0;
  EXPECT_EQ(*read, expected);
}

TEST_F(ResidentPagesTest, sizes_of_parts_are_of_smaps_and_status) {
  make_process("12");
  write("12/smaps",
        "00001000-00002000 rw-p 00000000 00:00 0 [heap]\nRss: 8 kB\nPss: 6 kB\n"
        "Anonymous: 8 kB\nSwap: 0 kB\n"
        "00003000-00004000 r--p 00000000 00:00 0 /x y\nRss: 4 kB\nPss: 1 kB\nPss_Dirty: 1 kB\n"
        "Anonymous: 0 kB\nSwap: 0 kB\n");
  write("12/status", "Name: database\nRssShmem:\t 4 kB\nVmPTE:\t 44 kB\n");
  ResidentPages pages = this->pages();
  pages.begin({12});
  const Observation seen = pages.read("resident");
  ASSERT_EQ(seen.rows.size(), 1U);
  const auto read = resident_snapshot(seen.rows[0]);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->parts.pss_bytes, 7 * 1024U);
  EXPECT_EQ(read->parts.anonymous_bytes, 8 * 1024U);
  EXPECT_EQ(read->parts.shared_memory_bytes, 4 * 1024U);
  EXPECT_EQ(read->parts.page_table_bytes, 44 * 1024U);
  EXPECT_EQ(read->parts.mappings.at("[heap]").rss_bytes, 8 * 1024U);
  EXPECT_EQ(read->parts.mappings.at("/x y").rss_bytes, 4 * 1024U);
}

TEST_F(ResidentPagesTest, processes_of_events_are_looked_at_once_it_has_begun) {
  make_process("12");
  ResidentPages pages = this->pages();
  pages.want(12);
  EXPECT_TRUE(pages.read("resident").rows.empty());
  pages.begin({});
  pages.want(12);
  EXPECT_EQ(pages.read("resident").rows.size(), 1U);
  EXPECT_EQ(pages.read("resident").rows.size(), 1U);
  std::filesystem::remove_all(std::filesystem::path(dir_.path()) / "12");
  EXPECT_TRUE(pages.read("resident").rows.empty());
  make_process("12");
  EXPECT_TRUE(pages.read("resident").rows.empty()) << "it is another process";
}

TEST_F(ResidentPagesTest, what_was_read_ahead_is_used_once) {
  make_process("12");
  ResidentPages pages = this->pages();
  pages.begin({12});
  pages.read_ahead();
  write("12/comm", "other\n");
  Observation seen = pages.read("resident");
  ASSERT_EQ(seen.rows.size(), 1U);
  EXPECT_EQ(*seen.rows[0].text("comm"), "database");
  seen = pages.read("resident");
  ASSERT_EQ(seen.rows.size(), 1U);
  EXPECT_EQ(*seen.rows[0].text("comm"), "other");
}

TEST_F(ResidentPagesTest, process_whose_page_tables_cannot_be_read_is_left_out) {
  make_process("12");
  make_process("13");
  std::filesystem::remove(std::filesystem::path(dir_.path()) / "12/pagemap");
  write_pagemap("13/pagemap", {{16, kPresent}});  // it ends early
  ResidentPages pages = this->pages();
  pages.begin({12, 13});
  EXPECT_TRUE(pages.read("resident").rows.empty());
}

}  // namespace
}  // namespace memtrace::test
