#include "perf/file_out/output_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include "support/recorded.h"
#include "support/temp_dir.h"

namespace memtrace::test {
namespace {

constexpr uid_t kNobody = 65534;

class OutputFileTest : public testing::Test {
 protected:
  static void write(const std::string& path, const std::string& text) {
    std::ofstream(path, std::ios::binary) << text;
  }

  static std::string read(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  static struct stat status_of(const std::string& path) {
    struct stat status {};

    EXPECT_EQ(::lstat(path.c_str(), &status), 0) << path;
    return status;
  }

  // What is at path stays what it is, with all that it holds.
  void expect_left_alone(const std::string& path, const std::string& why) {
    const struct stat before = status_of(path);
    const std::string content = S_ISREG(before.st_mode) ? read(path) : "";
    const auto file = OutputFile::create(path, nullptr);
    ASSERT_FALSE(file.ok());
    EXPECT_EQ(file.error().message, path + " " + why + ": memtrace leaves it as it is");
    EXPECT_NE(file.error().hint, "");
    const struct stat after = status_of(path);
    EXPECT_EQ(after.st_ino, before.st_ino);
    EXPECT_EQ(after.st_mode, before.st_mode);
    EXPECT_EQ(after.st_uid, before.st_uid);
    EXPECT_EQ(S_ISREG(after.st_mode) ? read(path) : "", content);
    EXPECT_FALSE(std::filesystem::exists(path + ".old"));
  }

  TempDir dir_;
  std::string path_ = dir_.file("rec");
};

TEST_F(OutputFileTest, file_is_made_for_its_owner_alone) {
  auto file = OutputFile::create(path_, nullptr);
  ASSERT_TRUE(file.ok()) << file.error().message;
  EXPECT_FALSE(file.value().is_stream());
  EXPECT_EQ(status_of(path_).st_mode & 0777U, 0600U);
  file.value().take_back();
  EXPECT_FALSE(std::filesystem::exists(path_));
}

TEST_F(OutputFileTest, old_recording_is_kept_under_another_name) {
  write(path_, "PERFILE2 first");
  write(path_ + ".old", "PERFILE2 before");
  auto file = OutputFile::create(path_, nullptr);
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(read(path_ + ".old"), "PERFILE2 first");
  EXPECT_EQ(read(path_), "");
  file.value().take_back();
  EXPECT_EQ(read(path_), "PERFILE2 first");
  EXPECT_FALSE(std::filesystem::exists(path_ + ".old"));
}

TEST_F(OutputFileTest, what_is_no_recording_is_left_alone) {
  write(path_, "a letter that took a week");
  expect_left_alone(path_, "is not a recording");
}

TEST_F(OutputFileTest, old_name_in_use_for_something_else_is_left_alone) {
  write(path_, "PERFILE2 first");
  write(path_ + ".old", "a letter");
  const auto file = OutputFile::create(path_, nullptr);
  ASSERT_FALSE(file.ok());
  EXPECT_TRUE(file.error().message.starts_with(path_ + ".old is not a recording"))
      << file.error().message;
  EXPECT_EQ(read(path_), "PERFILE2 first");
  EXPECT_EQ(read(path_ + ".old"), "a letter");
}

// A new one: a process that had the empty one open could read or write the recording.
TEST_F(OutputFileTest, own_empty_file_that_others_may_read_gives_way_to_a_new_one) {
  write(path_, "");
  ASSERT_EQ(::chmod(path_.c_str(), 0666), 0);
  const ino_t number = status_of(path_).st_ino;
  auto file = OutputFile::create(path_, nullptr);
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(status_of(path_ + ".old").st_ino, number);
  EXPECT_EQ(status_of(path_).st_mode & 0777U, 0600U);
  EXPECT_NE(status_of(path_).st_ino, number);
  file.value().take_back();
  EXPECT_EQ(status_of(path_).st_ino, number);
  EXPECT_FALSE(std::filesystem::exists(path_ + ".old"));
}

// As mktemp(1) makes them, or a memtrace that was killed leaves them.
TEST_F(OutputFileTest, own_empty_file_for_its_owner_alone_is_written_to) {
  write(path_, "");
  write(path_ + ".old", "PERFILE2 before");
  ASSERT_EQ(::chmod(path_.c_str(), 0600), 0);
  const ino_t number = status_of(path_).st_ino;
  auto file = OutputFile::create(path_, nullptr);
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(::write(file.value().take_fd().get(), "abc", 3), 3);
  EXPECT_EQ(status_of(path_).st_ino, number);
  EXPECT_EQ(read(path_), "abc");
  file.value().take_back();
  EXPECT_EQ(status_of(path_).st_ino, number);
  EXPECT_EQ(read(path_), "");
  EXPECT_EQ(read(path_ + ".old"), "PERFILE2 before");
}

TEST_F(OutputFileTest, old_recording_is_not_lost_for_an_empty_file) {
  write(path_, "");
  write(path_ + ".old", "PERFILE2 before");
  ASSERT_EQ(::chmod(path_.c_str(), 0644), 0);
  const auto file = OutputFile::create(path_, nullptr);
  ASSERT_FALSE(file.ok());
  EXPECT_NE(file.error().message.find(" is empty, and "), std::string::npos);
  EXPECT_EQ(read(path_ + ".old"), "PERFILE2 before");
  EXPECT_TRUE(std::filesystem::exists(path_));
}

TEST_F(OutputFileTest, pipes_and_devices_of_others_are_left_alone) {
  ASSERT_EQ(::mkfifo(path_.c_str(), 0666), 0);
  if (::chown(path_.c_str(), kNobody, kNobody) != 0) {
    GTEST_SKIP() << "chown(2) is for root";
  }
  const int reader = ::open(path_.c_str(), O_RDONLY | O_NONBLOCK);  // else it would wait for ever
  std::thread([&] { expect_left_alone(path_, "is a pipe of another user"); }).join();
  ::close(reader);
  const std::string device = dir_.file("device");
  ASSERT_EQ(::mknod(device.c_str(), S_IFCHR | 0666, ::makedev(1, 3)), 0);
  ASSERT_EQ(::chown(device.c_str(), kNobody, kNobody), 0);
  expect_left_alone(device, "is a device of another user");
}

// Whose pipe is on standard output is its shell's business.
TEST_F(OutputFileTest, pipe_that_is_open_already_may_be_anybody_s) {
  int ends[2] = {};
  ASSERT_EQ(::pipe(ends), 0);
  if (::fchown(ends[1], kNobody, kNobody) != 0) {
    GTEST_SKIP() << "chown(2) is for root";
  }
  const std::string path = "/dev/fd/" + std::to_string(ends[1]);
  EXPECT_TRUE(OutputFile::create(path, nullptr).ok());
  ::close(ends[0]);
  ::close(ends[1]);
}

// While the reader is waited for.
TEST_F(OutputFileTest, what_takes_a_pipe_s_place_is_not_written_to) {
  const std::string device = dir_.file("device");
  if (::mknod(device.c_str(), S_IFCHR | 0666, ::makedev(1, 3)) != 0) {
    GTEST_SKIP() << "mknod(2) is for root";
  }
  for (const bool by_link : {true, false}) {
    std::filesystem::remove(path_);
    ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0);
    std::thread other([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(60));
      const std::string next = dir_.file("next");
      if (by_link) {
        std::filesystem::create_symlink(device, next);
      } else {
        ::mknod(next.c_str(), S_IFCHR | 0666, ::makedev(1, 3));
      }
      std::filesystem::rename(next, path_);
    });
    const auto file = OutputFile::create(path_, nullptr);
    other.join();
    ASSERT_FALSE(file.ok());
    EXPECT_NE(file.error().message.find("was something else"), std::string::npos)
        << file.error().message;
  }
}

TEST_F(OutputFileTest, link_to_a_device_is_followed_where_nobody_else_can_change_it) {
  std::filesystem::create_symlink("/dev/null", path_);
  EXPECT_TRUE(OutputFile::create(path_, nullptr).ok());
  ASSERT_EQ(::chmod(dir_.path().c_str(), 0777), 0);
  expect_left_alone(path_, "is a symbolic link in a folder that others may change");
}

TEST_F(OutputFileTest, files_of_others_are_left_alone) {
  if (::geteuid() != 0) {
    GTEST_SKIP() << "chown(2) is for root";
  }
  write(path_, "");
  ASSERT_EQ(::chown(path_.c_str(), kNobody, kNobody), 0);
  ASSERT_EQ(::chmod(path_.c_str(), 0666), 0);
  expect_left_alone(path_, "belongs to another user");
  write(path_, "PERFILE2 theirs");
  expect_left_alone(path_, "belongs to another user");
}

TEST_F(OutputFileTest, user_behind_sudo_gets_the_new_file_and_no_other) {
  if (::geteuid() != 0) {
    GTEST_SKIP() << "chown(2) is for root";
  }
  ::setenv("SUDO_UID", "65534", 1);
  ::setenv("SUDO_GID", "65534", 1);
  write(path_, "PERFILE2 theirs");
  ASSERT_EQ(::chown(path_.c_str(), kNobody, kNobody), 0);
  const bool made = OutputFile::create(path_, nullptr).ok();
  const std::string device = dir_.file("device");
  EXPECT_EQ(::mknod(device.c_str(), S_IFCHR | 0666, ::makedev(1, 3)), 0);
  auto stream = OutputFile::create(device, nullptr);
  ::unsetenv("SUDO_UID");
  ::unsetenv("SUDO_GID");
  EXPECT_TRUE(made);
  EXPECT_EQ(status_of(path_).st_uid, kNobody);
  ASSERT_TRUE(stream.ok()) << stream.error().message;
  EXPECT_EQ(status_of(device).st_uid, 0U);
}

TEST_F(OutputFileTest, device_is_written_and_stays) {
  if (::mknod(path_.c_str(), S_IFCHR | 0640, ::makedev(1, 3)) != 0) {
    GTEST_SKIP() << "mknod(2) is for root";
  }
  const mode_t mode = status_of(path_).st_mode;
  auto file = OutputFile::create(path_, nullptr);
  ASSERT_TRUE(file.ok()) << file.error().message;
  EXPECT_TRUE(file.value().is_stream());
  EXPECT_EQ(::write(file.value().take_fd().get(), "x", 1), 1);
  file.value().take_back();
  EXPECT_EQ(status_of(path_).st_mode, mode);
}

TEST_F(OutputFileTest, disk_is_left_alone) {
  if (::mknod(path_.c_str(), S_IFBLK | 0600, ::makedev(7, 255)) != 0) {
    GTEST_SKIP() << "mknod(2) is for root";
  }
  expect_left_alone(path_, "is a disk");
}

TEST_F(OutputFileTest, folder_is_left_alone) {
  std::filesystem::create_directory(path_);
  expect_left_alone(path_, "is a directory");
}

TEST_F(OutputFileTest, pipe_waits_for_its_reader_and_stays) {
  ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0);
  std::string got;
  std::thread reader([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(60));
    got = read(path_);
  });
  auto file = OutputFile::create(path_, nullptr);
  if (file.ok()) {
    EXPECT_TRUE(file.value().is_stream());
    EXPECT_EQ(::write(file.value().take_fd().get(), "abc", 3), 3);
    file.value().take_back();
  }
  reader.join();
  ASSERT_TRUE(file.ok()) << file.error().message;
  EXPECT_EQ(got, "abc");
  EXPECT_TRUE(S_ISFIFO(status_of(path_).st_mode));
}

TEST_F(OutputFileTest, pipe_that_nobody_reads_ends_with_a_signal) {
  ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0);
  StopSignals signals;
  ::raise(SIGTERM);
  const auto file = OutputFile::create(path_, &signals);
  ASSERT_FALSE(file.ok());
  EXPECT_EQ(file.error().message, path_ + ": nobody has opened this pipe for reading");
}

TEST_F(OutputFileTest, own_link_to_a_file_leads_there) {
  const std::string real = dir_.file("real");
  write(real, "PERFILE2 first");
  std::filesystem::create_symlink("real", path_);
  auto file = OutputFile::create(path_, nullptr);
  ASSERT_TRUE(file.ok());
  EXPECT_TRUE(S_ISLNK(status_of(path_).st_mode));
  EXPECT_EQ(read(real + ".old"), "PERFILE2 first");
  file.value().take_back();
  EXPECT_EQ(read(real), "PERFILE2 first");
}

TEST_F(OutputFileTest, link_to_nothing_makes_no_file) {
  std::filesystem::create_symlink("elsewhere", path_);
  expect_left_alone(path_, "is a symbolic link that leads to no file");
  EXPECT_FALSE(std::filesystem::exists(dir_.file("elsewhere")));
}

TEST_F(OutputFileTest, link_of_another_user_is_not_followed) {
  const std::string real = dir_.file("real");
  write(real, "");
  std::filesystem::create_symlink("real", path_);
  if (::lchown(path_.c_str(), kNobody, kNobody) != 0) {
    GTEST_SKIP() << "lchown(2) is for root";
  }
  expect_left_alone(path_, "is a symbolic link of another user");
  EXPECT_EQ(read(real), "");
}

TEST_F(OutputFileTest, what_took_the_place_meanwhile_is_not_removed) {
  auto file = OutputFile::create(path_, nullptr);
  ASSERT_TRUE(file.ok());
  std::filesystem::remove(path_);
  write(path_, "a letter");
  file.value().take_back();
  EXPECT_EQ(read(path_), "a letter");
}

TEST_F(OutputFileTest, writer_that_is_abandoned_leaves_a_device_in_place) {
  if (::mknod(path_.c_str(), S_IFCHR | 0666, ::makedev(1, 3)) != 0) {
    GTEST_SKIP() << "mknod(2) is for root";
  }
  auto writer = create_file_writer(path_, kmalloc_setup());
  ASSERT_TRUE(writer.ok());
  writer.value()->abandon();
  EXPECT_TRUE(S_ISCHR(status_of(path_).st_mode));
}

}  // namespace
}  // namespace memtrace::test
