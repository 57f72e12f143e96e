#include "os/trust.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "support/temp_dir.h"

namespace memtrace {
namespace {

namespace fs = std::filesystem;

constexpr unsigned kNobody = 65534;

class TrustTest : public testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(folder_);
    std::ofstream(file_) << "x";
    ASSERT_EQ(::chmod(folder_.c_str(), 0755), 0);
    ASSERT_EQ(::chmod(file_.c_str(), 0644), 0);
  }

  void TearDown() override {
    ::unsetenv("SUDO_UID");
    ::unsetenv("SUDO_GID");
  }

  static void give(const std::string& path, unsigned user, unsigned group, unsigned mode) {
    ASSERT_EQ(::chown(path.c_str(), user, group), 0);
    ASSERT_EQ(::chmod(path.c_str(), mode), 0);
  }

  test::TempDir dir_;
  std::string folder_ = fs::canonical(dir_.path()).string() + "/folder";
  std::string file_ = folder_ + "/file";
};

TEST_F(TrustTest, own_files_are_ours) {
  EXPECT_TRUE(is_path_of_ours(file_));
  EXPECT_TRUE(is_path_of_ours(folder_ + "/../folder/./file"));
  EXPECT_FALSE(is_path_of_ours(folder_));
  EXPECT_TRUE(is_folder_of_ours(folder_));
  EXPECT_TRUE(is_folder_of_ours("/dev"));
  EXPECT_FALSE(is_folder_of_ours(file_));
  EXPECT_FALSE(is_path_of_ours(file_ + "/.."));
  EXPECT_FALSE(is_path_of_ours("file"));
  EXPECT_FALSE(is_path_of_ours("/dev/null"));
}

TEST_F(TrustTest, what_all_may_write_is_not_ours_but_in_sticky_folders) {
  ASSERT_EQ(::chmod(folder_.c_str(), 0777), 0);
  EXPECT_FALSE(is_path_of_ours(file_));
  ASSERT_EQ(::chmod(folder_.c_str(), 01777), 0);
  EXPECT_TRUE(is_path_of_ours(file_));
  ASSERT_EQ(::chmod(file_.c_str(), 01666), 0);
  EXPECT_FALSE(is_path_of_ours(file_));
}

TEST_F(TrustTest, only_roots_group_and_private_groups_may_write) {
  if (::geteuid() != 0) {
    GTEST_SKIP() << "chown(2) is for root";
  }
  give(folder_, 0, kNobody, 0775);
  EXPECT_FALSE(is_path_of_ours(file_));
  give(folder_, 0, 0, 0775);
  EXPECT_TRUE(is_path_of_ours(file_));
  give(file_, 0, kNobody, 0664);
  EXPECT_FALSE(is_path_of_ours(file_));
}

TEST_F(TrustTest, user_behind_sudo_is_trusted_and_no_other) {
  if (::geteuid() != 0) {
    GTEST_SKIP() << "chown(2) is for root";
  }
  EXPECT_EQ(sudo_user(), std::nullopt);
  give(file_, kNobody, kNobody, 0644);
  EXPECT_FALSE(is_path_of_ours(file_));
  ::setenv("SUDO_UID", "65534", 1);
  ::setenv("SUDO_GID", "65533", 1);
  EXPECT_EQ(sudo_user(), std::uint64_t{kNobody});
  EXPECT_EQ(sudo_group(), std::uint64_t{65533});
  EXPECT_TRUE(is_path_of_ours(file_));
  ::setenv("SUDO_UID", "65532", 1);
  EXPECT_FALSE(is_path_of_ours(file_));
}

TEST_F(TrustTest, links_are_followed_through_the_folders_they_lead_to) {
  if (::geteuid() != 0) {
    GTEST_SKIP() << "chown(2) is for root";
  }
  const std::string theirs = fs::canonical(dir_.path()).string() + "/theirs";
  fs::create_directories(theirs);
  fs::create_symlink(file_, theirs + "/back");  // root's own, in a folder of nobody's
  fs::create_symlink(theirs + "/back", folder_ + "/link");
  EXPECT_TRUE(is_path_of_ours(folder_ + "/link"));
  give(theirs, kNobody, kNobody, 0755);
  EXPECT_FALSE(is_path_of_ours(folder_ + "/link"));
  fs::create_symlink("loop", folder_ + "/loop");
  EXPECT_FALSE(is_path_of_ours(folder_ + "/loop"));
}

}  // namespace
}  // namespace memtrace
