#include "observe/files/ext_mounts.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "support/temp_dir.h"

namespace memtrace {
namespace {

constexpr std::uint64_t kSecondNs = 1'000'000'000;
constexpr ExtMounts::Device kDisk = {8, 1};

TEST(ExtMounts, mounted_roots_of_ext_file_systems_are_read) {
  constexpr std::string_view kMounts =
      "22 27 0:21 / /proc rw,relatime - proc proc rw\n"
      "27 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw\n"
      "28 27 254:0 /srv /bound rw,relatime - ext4 /dev/vda rw\n"
      "29 27 8:17 / /data rw,relatime - xfs /dev/sdb1 rw\n"
      "30 27 8:18 /part /part rw,relatime - ext3 /dev/sdb2 rw\n"
      "31 27 8:19 / /old rw - ext2 /dev/sdb3 rw\n"
      "torn line 8:20\n";
  const ExtMounts::Points expected = {{{254, 0}, "/"}, {{8, 19}, "/old"}};
  EXPECT_EQ(ext_mounts(kMounts), expected);
  EXPECT_TRUE(ext_mounts("").empty());
}

// Processes made up of files.
class ExtMountsTest : public testing::Test {
 protected:
  void make_process(const std::string& pid, const std::string& mounts, const std::string& root) {
    std::filesystem::create_directories(dir_.file(pid + "/ns"));
    std::filesystem::create_symlink(mounts, dir_.file(pid + "/ns/mnt"));
    std::filesystem::create_symlink(root, dir_.file(pid + "/root"));
  }

  void mount_at(const std::string& pid, const std::string& path) {
    std::ofstream(dir_.file(pid + "/mountinfo")) << "27 1 8:1 / " + path + " rw - ext4 /dev/a rw\n";
  }

  std::string point(const std::string& pid, std::uint64_t now_ns) {
    const auto& points = mounts_.of(pid, now_ns);
    const auto found = points.find(kDisk);
    return found == points.end() ? "" : found->second;
  }

  test::TempDir dir_;
  ExtMounts mounts_{dir_.path()};
};

TEST_F(ExtMountsTest, processes_of_a_namespace_share_what_was_read_within_a_second) {
  make_process("7", "mnt:[1]", "/");
  make_process("8", "mnt:[1]", "/");
  mount_at("7", "/old");
  EXPECT_EQ(point("7", kSecondNs), "/old");
  mount_at("7", "/new");
  mount_at("8", "/new");
  EXPECT_EQ(point("8", 2 * kSecondNs - 1), "/old") << "it was not read again";
  EXPECT_EQ(point("8", 2 * kSecondNs), "/new");
  EXPECT_EQ(point("7", 2 * kSecondNs), "/new");
}

TEST_F(ExtMountsTest, another_namespace_or_root_has_mounts_of_its_own) {
  make_process("7", "mnt:[1]", "/");
  make_process("8", "mnt:[2]", "/");
  make_process("9", "mnt:[1]", "/jail");
  mount_at("7", "/a");
  mount_at("8", "/b");
  mount_at("9", "/c");
  EXPECT_EQ(point("7", kSecondNs), "/a");
  EXPECT_EQ(point("8", kSecondNs), "/b");
  EXPECT_EQ(point("9", kSecondNs), "/c");
}

TEST_F(ExtMountsTest, process_that_has_ended_has_none) {
  EXPECT_EQ(point("7", kSecondNs), "");
  make_process("7", "mnt:[1]", "/");
  mount_at("7", "/a");
  EXPECT_EQ(point("7", kSecondNs), "/a") << "of a new process with its number";
}

}  // namespace
}  // namespace memtrace
