#include "os/own/own_memory.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <vector>

#include "support/sanitized.h"
#include "support/temp_dir.h"

namespace memtrace {
namespace {

class OwnMemoryTest : public testing::Test {
 protected:
  void write(const std::string& path, const std::string& text) {
    const std::filesystem::path whole = dir_.path() + path;
    std::filesystem::create_directories(whole.parent_path());
    std::ofstream(whole) << text;
  }

  // The cgroup's limit and usage, in the files of version 1 or 2.
  void write_cgroup(const std::string& path, const std::string& limit, const std::string& usage) {
    const bool is_v1 = path.starts_with("/memory");
    write("/sys/fs/cgroup" + path + (is_v1 ? "/memory.limit_in_bytes" : "/memory.max"), limit);
    write("/sys/fs/cgroup" + path + (is_v1 ? "/memory.usage_in_bytes" : "/memory.current"), usage);
  }

  std::optional<std::uint64_t> free() { return free_memory_bytes(dir_.path()); }

  test::TempDir dir_;
};

TEST_F(OwnMemoryTest, is_not_known_without_files) {
  EXPECT_EQ(free(), std::nullopt);
}

TEST_F(OwnMemoryTest, the_machine_has_what_is_available) {
  write("/proc/meminfo", "MemTotal: 900 kB\nMemAvailable: 300 kB\n");
  EXPECT_EQ(free(), 300U * 1024);
}

TEST_F(OwnMemoryTest, the_cgroup_with_the_least_left_decides_in_version_1) {
  write("/proc/meminfo", "MemAvailable: 300 kB\n");
  write("/proc/self/cgroup", "3:cpu:/x\n2:memory:/a/b\n0::/z\n");
  write_cgroup("/memory", "9223372036854771712\n", "5000\n");
  write_cgroup("/memory/a", "100000\n", "95000\n");
  write("/sys/fs/cgroup/memory/a/memory.stat", "inactive_file 1\ntotal_inactive_file 20000\n");
  write_cgroup("/memory/a/b", "90000\n", "20000\n");
  EXPECT_EQ(free(), 25000U);
}

TEST_F(OwnMemoryTest, the_cgroup_decides_in_version_2) {
  write("/proc/meminfo", "MemAvailable: 300 kB\n");
  write("/proc/self/cgroup", "0::/a/b\n");
  write_cgroup("/a", "max\n", "95000\n");
  EXPECT_EQ(free(), 300U * 1024);
  write_cgroup("/a/b", "90000\n", "95000\n");
  EXPECT_EQ(free(), 0U);  // above its limit: nothing is left
  write_cgroup("/a/b", "90000\n", "80000\n");
  write("/sys/fs/cgroup/a/b/memory.stat", "anon 5\ninactive_file 1000\n");
  EXPECT_EQ(free(), 11000U);
}

// The path of /proc/self/cgroup is that of the host, where a container has only its own.
TEST_F(OwnMemoryTest, a_container_sees_its_cgroup_as_the_root) {
  write("/proc/meminfo", "MemAvailable: 300 kB\n");
  write("/proc/self/cgroup", "0::/docker/12\n");
  write_cgroup("", "90000\n", "80000\n");
  EXPECT_EQ(free(), 10000U);
}

TEST(OwnMemory, grows_with_what_is_touched) {
  const std::uint64_t before = own_memory_bytes();
  EXPECT_GT(before, 0U);
  const std::vector<char> more(std::size_t{32} << 20U, 'x');
  EXPECT_GE(own_memory_bytes() + (1U << 20U), before + more.size());
}

// In a child: the limit stays.
TEST(OwnMemory, malloc_fails_at_the_limit) {
  if (test::kIsSanitized) {
    GTEST_SKIP() << "a sanitizer's own malloc ends the program";
  }
  const pid_t child = ::fork();
  if (child == 0) {
    limit_own_memory(std::uint64_t{16} << 20U);
    std::vector<void*> blocks;
    std::size_t taken = 0;
    while (void* block = std::malloc(std::size_t{1} << 20U)) {
      blocks.push_back(block);
      ++taken;
    }
    ::_exit(taken >= 16 && taken <= 160 ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

}  // namespace
}  // namespace memtrace
