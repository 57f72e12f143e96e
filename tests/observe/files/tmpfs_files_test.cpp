#include "observe/files/tmpfs_files.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "os/system.h"
#include "support/temp_dir.h"

namespace memtrace {
namespace {

// On this machine's own tmpfs.
TEST(TmpfsFiles, files_that_grow_are_given_with_what_they_grew_by) {
  const std::string path = "/dev/shm/memtrace_test_" + std::to_string(::getpid());
  TmpfsFiles files("/proc/self/mountinfo");
  EXPECT_FALSE(files.has_begun());
  std::ofstream(path) << std::string(8192, 'x');
  const auto row_of = [&path](const Observation& observation) {
    for (const Facts& row : observation.rows) {
      if (*row.text("path") == path) {
        return row;
      }
    }
    return Facts();
  };
  files.begin();
  EXPECT_TRUE(files.has_begun());
  std::ofstream(path, std::ios::app) << std::string(20 * 4096, 'x');
  const Facts grown = row_of(files.take_growth());
  const Facts again = row_of(files.take_growth());
  std::filesystem::remove(path);
  if (grown.empty()) {
    GTEST_SKIP() << "no tmpfs at /dev/shm that this process may write to";
  }
  EXPECT_EQ(*grown.number("grown"), 20U * 4096);
  EXPECT_EQ(*grown.number("bytes"), 22U * 4096);
  EXPECT_TRUE(again.empty());
}

TEST(TmpfsFiles, without_mounts_nothing_has_grown) {
  TmpfsFiles files("/nonexistent");
  files.begin();
  EXPECT_TRUE(files.take_growth().rows.empty());
}

}  // namespace
}  // namespace memtrace
