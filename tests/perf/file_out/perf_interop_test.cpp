// What memtrace writes, perf reads: with the perf on this machine.
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <cstdlib>

#include "perf/record/perf_format.h"
#include "support/perf_bytes.h"

namespace memtrace::test::perf_interop_test {
namespace {

constexpr int kSampleCount = 100;

std::string output_of(const std::string& command) {
  std::string text;
  FILE* pipe = ::popen(command.c_str(), "r");
  std::array<char, 4096> buffer{};
  while (pipe != nullptr && std::fgets(buffer.data(), buffer.size(), pipe) != nullptr) {
    text += buffer.data();
  }
  return pipe == nullptr || ::pclose(pipe) != 0 ? "failed: " + text : text;
}

bool has_perf() {
  return std::system("perf --version >/dev/null 2>&1") == 0;
}

int count_of(const std::string& text, const std::string& word) {
  int count = 0;
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
    ++count;
  }
  return count;
}

void write_samples(FileWriter& writer) {
  ASSERT_TRUE(writer.write(comm_record("eater", 1000)).ok());
  for (std::uint64_t i = 0; i < kSampleCount; ++i) {
    ASSERT_TRUE(writer.write(kmalloc_sample(1001 + i)).ok());
    if (i % 10 == 0) {
      ASSERT_TRUE(writer.finish_round().ok());
    }
  }
  ASSERT_TRUE(writer.finish(kmalloc_end()).ok());
}

TEST(PerfInterop, perf_script_reads_a_file_of_memtrace) {
  if (!has_perf()) {
    GTEST_SKIP() << "needs perf on the PATH";
  }
  const TempFile file("interop");
  auto writer = create_file_writer(file.path(), kmalloc_setup());
  ASSERT_TRUE(writer.ok());
  write_samples(*writer.value());
  const std::string text =
      output_of("perf script -f -F comm,tid,time,event,ip,trace -i " + file.path() + " 2>&1");
  EXPECT_EQ(count_of(text, "kmem:kmalloc:"), kSampleCount) << text;
  EXPECT_EQ(count_of(text, "bytes_req=100 bytes_alloc=128"), kSampleCount);
  EXPECT_EQ(count_of(text, "eater "), kSampleCount);
  EXPECT_EQ(count_of(text, "ffffffff81001020"), kSampleCount);
}

TEST(PerfInterop, perf_script_reads_a_compressed_file_and_its_header) {
  if (!has_perf()) {
    GTEST_SKIP() << "needs perf on the PATH";
  }
  const TempFile file("interop_packed");
  WriterSetup setup = kmalloc_setup();
  setup.zstd_level = 1;
  auto writer = create_file_writer(file.path(), setup);
  ASSERT_TRUE(writer.ok());
  write_samples(*writer.value());
  const std::string text = output_of("perf script -f -F comm,event,trace -i " + file.path());
  EXPECT_EQ(count_of(text, "kmem:kmalloc:"), kSampleCount) << text;
  EXPECT_EQ(count_of(text, "eater "), kSampleCount);
  const std::string header = output_of("perf report -f --header-only -i " + file.path());
  EXPECT_NE(header.find("# compressed : Zstd, level = 1, ratio = "), std::string::npos) << header;
}

TEST(PerfInterop, perf_report_prints_the_header_of_a_file) {
  if (!has_perf()) {
    GTEST_SKIP() << "needs perf on the PATH";
  }
  const TempFile file("interop_header");
  auto writer = create_file_writer(file.path(), kmalloc_setup());
  ASSERT_TRUE(writer.ok());
  write_samples(*writer.value());
  const std::string text = output_of("perf report -f --header-only -i " + file.path() + " 2>&1");
  for (const char* line : {"# hostname : box",
                           "# os release : 6.1.0",
                           "# nrcpus online : 3",
                           "# nrcpus avail : 4",
                           "# total memory : 8388608 kB",
                           "# cmdline : memtrace record -a",
                           "name = kmem:kmalloc, , id = { 11 }",
                           "# cpudesc : A fine CPU"}) {
    EXPECT_NE(text.find(line), std::string::npos) << line << " is not in:\n" << text;
  }
  const std::string build_ids = output_of("perf buildid-list -f -i " + file.path() + " 2>&1");
  EXPECT_NE(build_ids.find("00112233445566778899aabbccddeeff00112233 /usr/bin/true"),
            std::string::npos)
      << build_ids;
}

TEST(PerfInterop, perf_script_reads_a_pipe_of_memtrace) {
  if (!has_perf()) {
    GTEST_SKIP() << "needs perf on the PATH";
  }
  const TempFile file("interop_pipe");
  const int saved = ::dup(STDOUT_FILENO);
  std::fflush(stdout);
  ASSERT_NE(std::freopen(file.path().c_str(), "w", stdout), nullptr);
  auto writer = create_file_writer("-", kmalloc_setup());
  ::dup2(saved, STDOUT_FILENO);
  ::close(saved);
  ASSERT_TRUE(writer.ok());
  write_samples(*writer.value());
  const std::string text =
      output_of("cat " + file.path() + " | perf script -F comm,time,event,trace -i - 2>&1");
  EXPECT_EQ(count_of(text, "kmem:kmalloc:"), kSampleCount) << text;
  EXPECT_EQ(count_of(text, "bytes_req=100 bytes_alloc=128"), kSampleCount);
  EXPECT_EQ(count_of(text, "failed"), 0) << text;
}

}  // namespace
}  // namespace memtrace::test::perf_interop_test
