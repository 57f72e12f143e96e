#include "observe/files/open_files.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "os/unique_fd.h"
#include "support/temp_dir.h"

namespace memtrace {
namespace {

FileId id_of(const std::string& path) {
  struct stat found = {};
  EXPECT_EQ(::stat(path.c_str(), &found), 0);
  return {major(found.st_dev), minor(found.st_dev), found.st_ino};
}

std::string name_in(const std::vector<NamedFile>& files, const FileId& id) {
  const auto found = std::ranges::find(files, id, &NamedFile::id);
  return found == files.end() ? "" : found->path;
}

TEST(OpenFiles, own_open_file_has_its_path_and_a_closed_one_is_not_listed) {
  const test::TempDir dir;
  std::ofstream(dir.file("open")) << "x";
  std::ofstream(dir.file("closed")) << "x";
  const UniqueFd file(::open(dir.file("open").c_str(), O_RDONLY | O_CLOEXEC));
  const auto pid = static_cast<std::uint32_t>(::getpid());
  const auto files = open_files("/proc", pid, 4096);
  EXPECT_EQ(name_in(files, id_of(dir.file("open"))), dir.file("open"));
  EXPECT_EQ(name_in(files, id_of(dir.file("closed"))), "");
  EXPECT_TRUE(open_files("/proc", pid, 0).empty());
  EXPECT_TRUE(open_files(dir.path(), pid, 4096).empty());
}

TEST(OpenFiles, sockets_pipes_and_devices_are_no_files) {
  const UniqueFd null(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const auto files = open_files("/proc", static_cast<std::uint32_t>(::getpid()), 4096);
  EXPECT_TRUE(std::ranges::none_of(files, [](const NamedFile& file) {
    return !file.path.starts_with('/') || file.path == "/dev/null";
  }));
}

TEST(OpenFiles, mounted_roots_of_ext_file_systems_are_read) {
  constexpr std::string_view kMounts =
      "22 27 0:21 / /proc rw,relatime - proc proc rw\n"
      "27 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw\n"
      "28 27 254:0 /srv /bound rw,relatime - ext4 /dev/vda rw\n"
      "29 27 8:17 / /data rw,relatime - xfs /dev/sdb1 rw\n"
      "30 27 8:18 /part /part rw,relatime - ext3 /dev/sdb2 rw\n"
      "31 27 8:19 / /old rw - ext2 /dev/sdb3 rw\n"
      "torn line 8:20\n";
  const std::map<std::pair<std::uint32_t, std::uint32_t>, std::string> expected = {
      {{254, 0}, "/"}, {{8, 19}, "/old"}};
  EXPECT_EQ(parse_ext_mounts(kMounts), expected);
  EXPECT_TRUE(parse_ext_mounts("").empty());
}

// The kernel still knows the name of a file that was created a moment ago.
TEST(OpenFiles, closed_file_of_an_ext_file_system_is_named_by_its_inode) {
  const test::TempDir dir;
  std::ofstream(dir.file("closed")) << "x";
  InodeNames names("/proc/self/mountinfo");
  const std::string name = names.of(id_of(dir.file("closed")));
  if (name.empty()) {
    GTEST_SKIP() << "no root, or the scratch folder is on another kind of file system";
  }
  EXPECT_EQ(name, dir.file("closed"));
  EXPECT_EQ(names.of({.device_major = 254, .device_minor = 0, .inode = 0}), "");
}

TEST(OpenFiles, without_mounts_no_inode_has_a_name) {
  InodeNames names("/nonexistent");
  EXPECT_EQ(names.of({254, 0, 12}), "");
}

}  // namespace
}  // namespace memtrace
