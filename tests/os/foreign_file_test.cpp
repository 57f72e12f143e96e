#include "os/foreign_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

#include "support/temp_dir.h"

namespace memtrace::test {
namespace {

constexpr std::uint64_t kMuch = 1U << 30U;

class ForeignFileTest : public testing::Test {
 protected:
  std::string write(const std::string& name, std::size_t size_bytes) {
    std::ofstream(dir_.file(name), std::ios::binary) << std::string(size_bytes, 'x');
    return dir_.file(name);
  }

  static ForeignBytes mapped(const std::string& path) {
    auto file = open_foreign_file(path);
    EXPECT_TRUE(file.ok());
    auto bytes = ForeignBytes::map(file.value(), path, kMuch);
    EXPECT_TRUE(bytes.ok());
    return bytes.take();
  }

  TempDir dir_;
};

std::ptrdiff_t zeros_in(std::span<const std::byte> bytes) {
  return std::count(bytes.begin(), bytes.end(), std::byte{0});
}

TEST_F(ForeignFileTest, file_that_others_may_change_stays_as_it_was_when_it_was_opened) {
  const std::string path = write("others", 10000);
  ASSERT_EQ(::chmod(path.c_str(), 0666), 0);
  const auto file = open_foreign_file(path);
  ASSERT_TRUE(file.ok());
  const auto held = ForeignBytes::hold(file.value(), path, kMuch);
  const auto mapped_too = ForeignBytes::map(file.value(), path, kMuch);
  ASSERT_TRUE(held.ok() && mapped_too.ok());
  EXPECT_TRUE(held.value().is_copy());
  std::fstream(path, std::ios::in | std::ios::out | std::ios::binary) << std::string(9000, 'y');
  const auto bytes = held.value().bytes();
  EXPECT_EQ(std::count(bytes.begin(), bytes.end(), std::byte{'x'}), 10000);
  EXPECT_EQ(mapped_too.value().bytes()[8500], std::byte{'y'}) << "or nothing was tested";
  std::filesystem::resize_file(path, 0);
  EXPECT_EQ(std::count(bytes.begin(), bytes.end(), std::byte{'x'}), 10000);
  EXPECT_FALSE(held.value().was_cut());
}

TEST_F(ForeignFileTest, only_what_others_may_change_is_copied_and_up_to_a_bound) {
  const auto is_copied = [this](mode_t mode, std::uint64_t size_bytes) {
    const std::string path = write("file", 1);
    std::filesystem::resize_file(path, size_bytes);
    EXPECT_EQ(::chmod(path.c_str(), mode), 0);
    const auto file = open_foreign_file(path);
    const auto bytes = ForeignBytes::hold(file.value(), path, kMuch);
    return bytes.ok() && bytes.value().is_copy();
  };
  EXPECT_FALSE(is_copied(0644, 5000));
  EXPECT_TRUE(is_copied(0664, 5000));
  EXPECT_TRUE(is_copied(0646, ForeignBytes::kMaxCopied));
  EXPECT_FALSE(is_copied(0646, ForeignBytes::kMaxCopied + 1));
  EXPECT_FALSE(is_copied(0646, 0));
}

TEST_F(ForeignFileTest, copies_of_all_files_are_bounded_and_given_back) {
  const std::string path = write("sparse", 1);
  std::filesystem::resize_file(path, ForeignBytes::kMaxCopied);
  ASSERT_EQ(::chmod(path.c_str(), 0666), 0);
  const auto file = open_foreign_file(path);
  ASSERT_TRUE(file.ok());
  const auto hold = [&] {
    auto bytes = ForeignBytes::hold(file.value(), path, kMuch);
    EXPECT_TRUE(bytes.ok());
    return bytes.take();
  };
  std::vector<ForeignBytes> held;
  for (std::uint64_t i = 0; i < ForeignBytes::kMaxCopiedOfAll / ForeignBytes::kMaxCopied; ++i) {
    held.push_back(hold());
    EXPECT_TRUE(held.back().is_copy()) << i;
  }
  EXPECT_FALSE(hold().is_copy());
  held.pop_back();
  EXPECT_TRUE(hold().is_copy());
}

TEST_F(ForeignFileTest, nothing_but_files_is_opened) {
  const std::string pipe = dir_.file("pipe");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  for (const std::string& path : {pipe, dir_.path(), std::string("/dev/zero")}) {
    const auto file = open_foreign_file(path);
    ASSERT_FALSE(file.ok()) << path;
    EXPECT_EQ(file.error().message, path + ": not a file");
  }
  const auto missing = open_foreign_file(dir_.file("missing"));
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().errno_value, ENOENT);
}

// Half of the time there is a pipe, which nobody writes to. To wait for it would be to wait for
// ever.
TEST_F(ForeignFileTest, file_that_turns_into_a_pipe_hangs_nobody) {
  const std::string file = write("file", 10);
  const std::string pipe = dir_.file("pipe");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const std::string path = dir_.file("path");
  std::atomic<bool> done = false;
  std::thread swapper([&] {
    while (!done) {
      for (const std::string& target : {file, pipe}) {
        ::unlink((path + ".new").c_str());
        EXPECT_EQ(::symlink(target.c_str(), (path + ".new").c_str()), 0);
        EXPECT_EQ(::rename((path + ".new").c_str(), path.c_str()), 0);
      }
    }
  });
  for (int i = 0; i < 3000; ++i) {
    const auto opened = open_foreign_file(path);
    if (opened.ok()) {
      EXPECT_TRUE(S_ISREG(opened.value().status.st_mode));
    }
  }
  done = true;
  swapper.join();
}

TEST_F(ForeignFileTest, size_is_limited) {
  const std::string path = write("large", 0);
  ASSERT_EQ(::truncate(path.c_str(), off_t{1} << 40), 0);
  const auto file = open_foreign_file(path);
  ASSERT_TRUE(file.ok());
  const auto bytes = ForeignBytes::map(file.value(), path, kMuch);
  ASSERT_FALSE(bytes.ok());
  EXPECT_EQ(bytes.error().message, path + ": larger than the 1.0 GiB that memtrace reads");
}

TEST_F(ForeignFileTest, empty_file_has_no_bytes) {
  EXPECT_TRUE(mapped(write("empty", 0)).bytes().empty());
}

TEST_F(ForeignFileTest, zeros_follow_the_last_byte) {
  const ForeignBytes foreign = mapped(write("page", 4096));
  EXPECT_EQ(foreign.bytes().size(), 4096U);
  EXPECT_EQ(foreign.bytes().data()[4096], std::byte{0});
}

TEST_F(ForeignFileTest, what_was_cut_off_reads_as_zeros) {
  const std::string path = write("file", 40960);
  const ForeignBytes foreign = mapped(path);
  ASSERT_EQ(::truncate(path.c_str(), 8192), 0);
  EXPECT_EQ(zeros_in(foreign.bytes().first(8192)), 0);
  EXPECT_FALSE(foreign.was_cut());
  EXPECT_EQ(zeros_in(foreign.bytes()), 32768);
  EXPECT_TRUE(foreign.was_cut());
}

TEST_F(ForeignFileTest, notes_stay_out_of_the_file) {
  const std::string path = write("file", 40960);
  ForeignBytes foreign = mapped(path);
  ASSERT_TRUE(foreign.allow_writing(foreign.bytes().subspan(5000, 30000)).ok());
  auto* bytes = const_cast<std::byte*>(foreign.bytes().data());
  bytes[5000] = std::byte{'y'};
  EXPECT_EQ(zeros_in(mapped(path).bytes()), 0);
  EXPECT_EQ(mapped(path).bytes()[5000], std::byte{'x'});
  ASSERT_EQ(::truncate(path.c_str(), 8192), 0);
  bytes[20000] = std::byte{'z'};
  EXPECT_TRUE(foreign.was_cut());
  EXPECT_EQ(bytes[20000], std::byte{'z'});
}

TEST_F(ForeignFileTest, each_file_knows_of_its_own_end) {
  const std::string path = write("file", 40960);
  const ForeignBytes whole = mapped(write("other", 40960));
  {
    const ForeignBytes gone = mapped(path);
    ASSERT_EQ(::truncate(path.c_str(), 0), 0);
    EXPECT_EQ(zeros_in(gone.bytes()), 40960);
    EXPECT_TRUE(gone.was_cut());
  }
  EXPECT_FALSE(whole.was_cut());
  EXPECT_FALSE(mapped(write("again", 40960)).was_cut());  // in the place of the one that is gone
}

TEST_F(ForeignFileTest, threads_read_files_that_shrink) {
  std::vector<std::thread> threads;
  for (int number = 0; number < 4; ++number) {
    threads.emplace_back([this, number] {
      for (int turn = 0; turn < 50; ++turn) {
        const std::string path = write("file" + std::to_string(number), 40960);
        const ForeignBytes foreign = mapped(path);
        EXPECT_EQ(::truncate(path.c_str(), 4096 * (turn % 10)), 0);
        EXPECT_EQ(zeros_in(foreign.bytes()), 40960 - 4096 * (turn % 10));
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
}

TEST_F(ForeignFileTest, other_bus_errors_kill_as_ever) {
  const std::string path = write("file", 4096);
  const ForeignBytes foreign = mapped(path);
  const auto file = open_foreign_file(path);
  auto memory = Mapping::map(
      {.fd = file.value().fd.get(), .size_bytes = 4096, .prot = PROT_READ, .flags = MAP_PRIVATE});
  ASSERT_TRUE(memory.ok());
  ASSERT_EQ(::truncate(path.c_str(), 0), 0);
  const volatile std::byte* start = memory.value().bytes().data();
  EXPECT_EXIT(std::exit(std::to_integer<int>(*start)), testing::KilledBySignal(SIGBUS), "");
}

TEST_F(ForeignFileTest, reading_ends_at_the_end) {
  const auto file = open_foreign_file(write("file", 10));
  ASSERT_TRUE(file.ok());
  std::array<std::byte, 8> room{};
  EXPECT_EQ(read_at(file.value().fd, room, 0).take(), 8U);
  EXPECT_EQ(read_at(file.value().fd, room, 6).take(), 4U);
  EXPECT_EQ(read_at(file.value().fd, room, 99).take(), 0U);
}

}  // namespace
}  // namespace memtrace::test
