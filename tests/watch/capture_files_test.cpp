#include "watch/capture_files.h"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>

#include "support/temp_dir.h"

namespace memtrace {
namespace {

class CaptureFilesTest : public testing::Test {
 protected:
  void write(const std::string& path, const std::string& text = "PERFILE2...") {
    std::ofstream(path) << text;
  }

  test::TempDir dir_;
};

TEST(CaptureSuffix, is_a_time_and_a_trigger) {
  EXPECT_TRUE(is_capture_suffix("-20261123-140359-oom.data"));
  EXPECT_TRUE(is_capture_suffix("-20261123-140359-swap-in-2.data"));
  for (const char* other : {"",
                            ".data",
                            "-20261123-140359-.data",
                            "-20261123-140359.data",
                            "-2026112x-140359-oom.data",
                            "-20261123_140359-oom.data",
                            "-20261123-140359-oom.data.part",
                            "-20261123-140359-../x.data",
                            "-20261123-140359-OOM.data"}) {
    EXPECT_FALSE(is_capture_suffix(other)) << other;
  }
}

TEST_F(CaptureFilesTest, output_is_a_folder_or_a_prefix) {
  EXPECT_EQ(CaptureFiles(dir_.path(), 1).prefix(), std::string(dir_.path()) + "/memtrace-watch");
  EXPECT_EQ(CaptureFiles(dir_.file("w"), 1).prefix(), dir_.file("w"));
  EXPECT_EQ(CaptureFiles("", 1).prefix(), "memtrace-watch");
  EXPECT_EQ(CaptureFiles("new/", 1).prefix(), "new/memtrace-watch");
}

TEST_F(CaptureFilesTest, name_that_is_taken_gets_a_number) {
  const CaptureFiles files(dir_.file("w"), 1);
  const std::string first = files.next_name(1'790'000'000'000'000'000, "oom");
  EXPECT_TRUE(is_capture_suffix(first.substr(dir_.file("w").size()))) << first;
  write(first);
  const std::string second = files.next_name(1'790'000'000'000'000'000, "oom");
  EXPECT_EQ(second, first.substr(0, first.size() - 5) + "-2.data");
}

TEST_F(CaptureFilesTest, published_file_is_whole_and_an_unfinished_one_is_none) {
  const CaptureFiles files(dir_.file("w"), 1);
  const std::string name = files.next_name(1, "oom");
  write(CaptureFiles::unfinished(name));
  EXPECT_TRUE(files.all().empty());
  ASSERT_TRUE(CaptureFiles::publish(name).ok());
  EXPECT_EQ(files.all(), std::vector<std::string>{name});
  EXPECT_FALSE(CaptureFiles::publish(name).ok()) << "there is no unfinished one";
}

TEST_F(CaptureFilesTest, oldest_own_files_go_and_no_others) {
  const std::string start = dir_.file("w");
  for (const char* name : {"-20260101-000001-oom.data",
                           "-20260101-000002-asked.data",
                           "-20260101-000002-asked-2.data",
                           "-20250101-000002-rss.data"}) {
    write(start + name);
  }
  std::filesystem::last_write_time(
      start + "-20260101-000002-asked.data",
      std::filesystem::file_time_type::clock::now() - std::chrono::hours(1));
  write(start + "-20200101-000000-mine.data", "not a recording");
  write(start + "-notes.data");
  write(dir_.file("v-20200101-000000-oom.data"));
  std::filesystem::create_symlink(start + "-notes.data", start + "-20200101-000000-link.data");
  EXPECT_EQ(CaptureFiles(start, 0).remove_old(), std::vector<std::string>());
  EXPECT_EQ(CaptureFiles(start, 2).remove_old(),
            (std::vector<std::string>{start + "-20250101-000002-rss.data",
                                      start + "-20260101-000001-oom.data"}));
  EXPECT_EQ(CaptureFiles(start, 1).remove_old(),
            std::vector<std::string>{start + "-20260101-000002-asked.data"})
      << "written before the other one of that second";
  const auto left = std::filesystem::directory_iterator(dir_.path());
  EXPECT_EQ(std::distance(begin(left), end(left)), 5);
}

}  // namespace
}  // namespace memtrace
