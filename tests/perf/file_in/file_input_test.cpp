#include "perf/file_in/file_input.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "support/temp_dir.h"

namespace memtrace::test {
namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20U;

// Of mapped files, from /proc/self/status.
std::uint64_t resident_file_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    if (word == "RssFile:") {
      std::uint64_t kib = 0;
      status >> kib;
      return kib * 1024;
    }
  }
  return 0;
}

class FileInputTest : public testing::Test {
 protected:
  FileInput open_zeros(std::uint64_t size_bytes) {
    std::ofstream{dir_.file("zeros")};
    std::filesystem::resize_file(dir_.file("zeros"), size_bytes);
    auto input = FileInput::open(dir_.file("zeros"));
    EXPECT_TRUE(input.ok());
    return input.take();
  }

  TempDir dir_;
};

TEST_F(FileInputTest, file_that_is_read_is_not_the_processs_memory) {
  FileInput input = open_zeros(200 * kMiB);
  const std::uint64_t before = resident_file_bytes();
  std::uint64_t most = before;
  std::uint64_t sum = 0;
  while (!input.window().empty()) {
    const auto piece = input.window().first(kMiB);
    for (std::size_t i = 0; i < piece.size(); i += 4096) {
      sum += static_cast<std::uint64_t>(piece[i]);
    }
    input.consume(piece.size());
    most = std::max(most, resident_file_bytes());
  }
  EXPECT_EQ(sum, 0U);
  EXPECT_GT(most, before) << "it has been looked at";
  EXPECT_LT(most, before + 50 * kMiB);
  EXPECT_EQ(input.position(), 200 * kMiB);
}

TEST_F(FileInputTest, what_was_consumed_can_be_looked_at_again) {
  std::string text(40 * kMiB, 'a');
  text[5] = 'b';
  std::ofstream(dir_.file("text"), std::ios::binary) << text;
  auto input = FileInput::open(dir_.file("text"));
  ASSERT_TRUE(input.ok());
  const auto start = input.value().window().first(10);
  input.value().consume(35 * kMiB);
  EXPECT_EQ(static_cast<char>(start[5]), 'b');
  input.value().seek(5);
  EXPECT_EQ(static_cast<char>(input.value().window()[0]), 'b');
}

}  // namespace
}  // namespace memtrace::test
