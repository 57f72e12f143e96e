#include "observe/files/open_files.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
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

// The kernel still knows the name of a file that was created a moment ago.
TEST(OpenFiles, closed_file_of_an_ext_file_system_is_named_by_its_inode) {
  const test::TempDir dir;
  std::ofstream(dir.file("closed")) << "x";
  InodeNames names("/proc");
  const std::string name = names.of(id_of(dir.file("closed")), 1);
  if (name.empty()) {
    GTEST_SKIP() << "no root, or the scratch folder is on another kind of file system";
  }
  EXPECT_EQ(name, dir.file("closed"));
  EXPECT_EQ(names.of({.device_major = 254, .device_minor = 0, .inode = 0}, 1), "");
}

// A process made up of files: /dev/shm is a file system without a disk.
class OpenFilesOfTest : public testing::Test {
 protected:
  OpenFilesOfTest() {
    std::filesystem::create_directories(dir_.file("7/fd"));
    std::filesystem::create_directories(dir_.file("7/fdinfo"));
    std::filesystem::create_directories(dir_.file("lower"));
    std::filesystem::create_directories(dir_.file("upper"));
    std::ofstream(shared_) << "x";
    std::filesystem::create_symlink(shared_, dir_.file("7/fd/3"));
    write("7/fdinfo/3", "pos:\t0\nflags:\t0100000\nmnt_id:\t55\n");
  }

  ~OpenFilesOfTest() override { std::filesystem::remove(shared_); }

  void write(const std::string& name, const std::string& text) {
    std::ofstream(dir_.file(name)) << text;
  }

  FileId only_file() {
    const auto files = open_files(dir_.path(), 7, 4096);
    EXPECT_EQ(files.size(), 1U);
    return files.empty() ? FileId() : files[0].id;
  }

  test::TempDir dir_;
  std::string shared_ = "/dev/shm/memtrace_open_files_" + std::to_string(::getpid());
};

TEST_F(OpenFilesOfTest, files_without_a_disk_have_the_device_of_their_mount) {
  write("7/mountinfo", "55 1 0:99 / /srv rw - btrfs /dev/sdb rw\n");
  EXPECT_EQ(only_file(), (FileId{0, 99, id_of(shared_).inode}));
  write("7/mountinfo", "54 1 0:99 / /srv rw - btrfs /dev/sdb rw\n");
  EXPECT_EQ(only_file(), id_of(shared_)) << "another mount";
}

TEST_F(OpenFilesOfTest, files_of_an_overlay_are_those_below_it) {
  write("7/mountinfo",
        "55 1 0:99 / / rw - overlay overlay rw,lowerdir=" + dir_.file("lower") +
            ",upperdir=" + dir_.file("upper") + ",workdir=/w\n");
  FileId below = id_of(dir_.file("upper"));
  below.inode = id_of(shared_).inode;
  EXPECT_EQ(only_file(), below);
  write(
      "7/mountinfo",
      "55 1 0:99 / / rw - overlay overlay rw,lowerdir=/proc,upperdir=" + dir_.file("upper") + "\n");
  EXPECT_EQ(only_file().device_minor, 99U) << "layers on two file systems";
}

TEST(OpenFiles, without_mounts_no_inode_has_a_name) {
  InodeNames names("/nonexistent");
  EXPECT_EQ(names.of({254, 0, 12}, 1), "");
}

}  // namespace
}  // namespace memtrace
